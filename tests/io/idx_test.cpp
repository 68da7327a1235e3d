#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include <symbind/io.h>

namespace symbind {
namespace {

namespace fs = std::filesystem;

/// A file of this test's own, gone at its end.
class File {
 public:
  explicit File(const std::string& contents)
      : path_((fs::path(testing::TempDir()) /
               fmt::format("idx-{}-{}", ::getpid(), static_cast<const void*>(this)))
                  .string()) {
    std::ofstream(path_, std::ios::binary) << contents;
  }
  ~File() { fs::remove(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::string gzip(const std::string& text) {
  std::string out(compressBound(text.size()) + 64, '\0');
  z_stream s{};
  deflateInit2(&s, 9, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  s.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  s.avail_in = static_cast<uInt>(text.size());
  s.next_out = reinterpret_cast<Bytef*>(out.data());
  s.avail_out = static_cast<uInt>(out.size());
  deflate(&s, Z_FINISH);
  out.resize(s.total_out);
  deflateEnd(&s);
  return out;
}

std::string header(std::initializer_list<std::uint32_t> dims, int type = 8) {
  std::string out = {0, 0, static_cast<char>(type), static_cast<char>(dims.size())};
  for (const std::uint32_t d : dims) {
    for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(d >> shift);
  }
  return out;
}

std::string refusal(const std::string& contents) {
  const File file(contents);
  try {
    read_idx(file.path());
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::kIo) << e.what();
    EXPECT_NE(std::string(e.what()).find(file.path()), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("at byte"), std::string::npos) << e.what();
    return e.what();
  }
  ADD_FAILURE() << "the file was read";
  return "";
}

void expect_refused(const std::string& contents, const std::string& because) {
  for (const std::string& file : {contents, gzip(contents)}) {
    const std::string text = refusal(file);
    EXPECT_NE(text.find(because), std::string::npos) << text;
  }
}

const std::string kSmall = header({2, 3}) + "\x01\x02\x03\x04\x05\xff";

TEST(Idx, plain_and_gzipped) {
  for (const std::string& contents : {kSmall, gzip(kSmall)}) {
    const File file(contents);
    const NDArray a = read_idx(file.path());
    EXPECT_EQ(a.shape(), Shape({2, 3}));
    EXPECT_EQ(a.dtype(), DType::kUint8);
    EXPECT_EQ(a.to_vector<int>(), (std::vector<int>{1, 2, 3, 4, 5, 255}));
  }
}

TEST(Idx, extents_are_big_endian) {
  const File file(header({0x0102}) + std::string(0x0102, 'x'));
  EXPECT_EQ(read_idx(file.path()).shape(), Shape({258}));
}

TEST(Idx, fashion_mnist) {
  const std::string folder = "/usr/share/datasets/fashion-mnist/";
  if (!fs::exists(folder)) GTEST_SKIP() << "the package dataset-fashion-mnist is not installed";
  EXPECT_EQ(read_idx(folder + "t10k-images-idx3-ubyte.gz").shape(), Shape({10000, 28, 28}));
  const NDArray labels = read_idx(folder + "t10k-labels-idx1-ubyte.gz");
  std::vector<int> count(10);
  for (const int label : labels.to_vector<int>()) ++count.at(static_cast<std::size_t>(label));
  EXPECT_EQ(count, std::vector<int>(10, 1000));
}

TEST(BadInputIdx, no_such_file_and_folder) {
  for (const std::string path : {"no/such/file", "/", ""}) {
    try {
      read_idx(path);
      ADD_FAILURE();
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::kIo);
    }
  }
}

TEST(BadInputIdx, truncated_at_every_byte) {
  for (const std::string& whole : {kSmall, gzip(kSmall)}) {
    for (std::size_t n = 0; n < whole.size(); ++n) refusal(whole.substr(0, n));
  }
}

TEST(BadInputIdx, every_byte_of_the_gzip_damaged) {
  const std::string whole = gzip(header({64, 16}) + std::string(1024, 'a'));
  for (std::size_t n = 0; n < whole.size(); ++n) {
    std::string damaged = whole;
    damaged[n] = static_cast<char>(damaged[n] ^ 0x55);
    const File file(damaged);
    try {
      read_idx(file.path());  // the time stamp and its kin may change
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::kIo) << e.what();
    }
  }
}

TEST(BadInputIdx, other_files) {
  expect_refused("hello, world", "not an idx file");
  expect_refused(std::string("\x89PNG\r\n\x1a\n", 8), "not an idx file");
  expect_refused(header({2}, 0x0d) + std::string(8, 'x'), "element type 0x0d");
  expect_refused(std::string("\0\0\x08\0", 4), "rank 0");
  expect_refused(std::string("\0\0\x08\xff", 4) + std::string(4 * 255, '\1'), "rank 255");
  expect_refused(header({3, 0}), "extent 0");
}

TEST(BadInputIdx, more_than_announced) { expect_refused(kSmall + "x", "more bytes"); }

TEST(BadInputIdx, bytes_after_the_gzip_stream) { refusal(gzip(kSmall) + "garbage"); }

TEST(BadInputIdx, lying_header_is_refused_before_memory_is_taken) {
  expect_refused(header({0xffffffff, 0xffffffff, 0xffffffff}) + "x", "more elements");
  expect_refused(header({0x10000000}) + "x", "more elements");
}

TEST(BadInputIdx, a_gzip_bomb_stops_at_the_size_in_the_header) {
  refusal(gzip(header({16}) + std::string(std::size_t{1} << 26, '\0')));
}

}  // namespace
}  // namespace symbind
