#include "base/files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <thread>

#include "base/append_file.h"
#include "base/settings.h"
#include "symbind/error.h"

namespace symbind {
namespace {

namespace fs = std::filesystem;

class Files : public testing::Test {
 protected:
  Files() {
    std::string pattern = (fs::temp_directory_path() / "symbind-files-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  ~Files() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  size_t entries() const {
    return static_cast<size_t>(
        std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

  fs::path folder_;
};
using BadInputFiles = Files;

std::string text_of(const std::string& path) {
  const auto data = read_file(path);
  return {reinterpret_cast<const char*>(data.data()), data.size()};
}

void write_text(const std::string& path, std::string_view text) {
  write_file_atomic(path, [&](FileWriter& w) { w.write(text); });
}

std::string io_message(auto&& call) {
  try {
    call();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::kIo);
    return e.what();
  }
  return "no error";
}

std::span<const std::byte> as_bytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

TEST_F(Files, writes_and_replaces) {
  write_text(path("a"), "first");
  EXPECT_EQ(text_of(path("a")), "first");
  write_text(path("a"), "2nd");
  EXPECT_EQ(text_of(path("a")), "2nd");
  write_text(path("empty"), "");
  EXPECT_EQ(text_of(path("empty")), "");
  EXPECT_EQ(entries(), 2u);
}

TEST_F(Files, larger_than_the_buffer_in_many_pieces) {
  std::string expected;
  write_file_atomic(path("big"), [&](FileWriter& w) {
    for (int i = 0; i < 300; ++i) {
      const std::string piece(static_cast<size_t>(i) * 97, static_cast<char>('a' + i % 26));
      w.write(piece);
      expected += piece;
    }
    const std::string whole(3 << 20, 'z');
    w.write(whole);
    w.put(uint32_t{0x64636261});
    expected += whole + "abcd";
  });
  EXPECT_EQ(text_of(path("big")), expected);
}

TEST_F(Files, an_error_while_writing_leaves_the_old_file) {
  write_text(path("a"), "old");
  EXPECT_THROW(write_file_atomic(path("a"),
                                 [](FileWriter& w) {
                                   w.write(std::string(5 << 20, 'x'));
                                   throw std::runtime_error("half way");
                                 }),
               std::runtime_error);
  EXPECT_EQ(text_of(path("a")), "old");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(Files, keeps_permissions_and_links) {
  write_text(path("a"), "old");
  ::chmod(path("a").c_str(), 0640);
  fs::create_symlink(path("a"), path("link"));
  write_text(path("link"), "new");
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(text_of(path("a")), "new");
  EXPECT_EQ(fs::status(path("a")).permissions(), fs::perms(0640));
}

TEST_F(Files, a_relative_path_is_relative_to_the_current_folder) {
  const auto before = fs::current_path();
  fs::current_path(folder_);
  write_text("here", "x");
  fs::current_path(before);
  EXPECT_EQ(text_of(path("here")), "x");
}

TEST_F(BadInputFiles, missing_file_and_folder) {
  EXPECT_EQ(io_message([&] { read_file(path("none")); }),
            "cannot read '" + path("none") + "': No such file or directory");
  EXPECT_EQ(io_message([&] { write_text(path("no/such/folder"), "x"); }),
            "cannot write '" + path("no/such/folder") + "': No such file or directory");
  EXPECT_EQ(io_message([&] { write_text("", "x"); }), "cannot write a file: its path is empty");
}

TEST_F(BadInputFiles, a_folder_is_no_file) {
  EXPECT_EQ(io_message([&] { read_file(folder_.string()); }),
            "cannot read '" + folder_.string() + "': Is a directory");
  EXPECT_EQ(io_message([&] { write_text(folder_.string(), "x"); }),
            "cannot write '" + folder_.string() + "': Is a directory");
  EXPECT_EQ(entries(), 0u);
}

TEST_F(BadInputFiles, a_pipe_is_written_to_and_stays_a_pipe) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  const int reader = ::open(path("pipe").c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  write_text(path("pipe"), "through");
  EXPECT_TRUE(fs::is_fifo(path("pipe")));
  std::string got(7, ' ');
  EXPECT_EQ(::read(reader, got.data(), got.size()), 7);
  EXPECT_EQ(got, "through");
  ::close(reader);
  EXPECT_EQ(entries(), 1u);
}

// A limit on the file size simulates a full disk: the write fails half way.
TEST_F(BadInputFiles, a_full_disk) {
  write_text(path("a"), "old");
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{1 << 16, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const auto message = io_message([&] { write_text(path("a"), std::string(4 << 20, 'x')); });
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(message, "cannot write '" + path("a") + "': File too large");
  EXPECT_EQ(text_of(path("a")), "old");
  EXPECT_EQ(entries(), 1u);
}

TEST(ByteReader, reads_in_order) {
  const char data[] =
      "\x01\x00\x00\x00\xff"
      "abc";
  ByteReader r(as_bytes({data, 8}), "m.params");
  EXPECT_EQ(r.read<uint32_t>(), 1u);
  EXPECT_EQ(r.read<int8_t>(), -1);
  EXPECT_EQ(r.offset(), 5u);
  EXPECT_EQ(r.remaining(), 3u);
  EXPECT_EQ(static_cast<char>(r.bytes(3)[2]), 'c');
  EXPECT_EQ(r.remaining(), 0u);
  EXPECT_TRUE(r.bytes(0).empty());
}

TEST(BadInputByteReader, every_overrun_names_path_and_offset) {
  ByteReader r(as_bytes("12345678abc"), "m.params");
  r.read<uint64_t>();
  EXPECT_EQ(io_message([&] { r.read<uint32_t>(); }),
            "m.params: the file ends too early: 4 bytes wanted, 3 left (at byte 8)");
  EXPECT_EQ(io_message([&] { r.bytes(UINT64_MAX); }),
            "m.params: the file ends too early: 18446744073709551615 bytes wanted, 3 left (at byte "
            "8)");
  EXPECT_EQ(io_message([&] { r.fail("unknown type 9"); }), "m.params: unknown type 9 (at byte 8)");
  EXPECT_EQ(r.bytes(3).size(), 3u);  // still usable
}

TEST(LooksLike, known_beginnings) {
  using namespace std::string_view_literals;
  EXPECT_EQ(looks_like({}), "an empty file");
  EXPECT_EQ(looks_like(as_bytes("\x89PNG\r\n\x1a\nxyz")), "a PNG image");
  EXPECT_EQ(looks_like(as_bytes("\xff\xd8\xff\xe0")), "a JPEG image");
  EXPECT_EQ(looks_like(as_bytes("\x1f\x8b\x08")), "a gzip file");
  EXPECT_EQ(looks_like(as_bytes("\x80\x04\x95"sv)), "a Python pickle");
  EXPECT_EQ(looks_like(as_bytes("PK\x03\x04")), "a zip archive (perhaps .npz or .pth)");
  EXPECT_EQ(looks_like(as_bytes("version https://git-lfs.github.com/spec/v1\n")),
            "a Git LFS pointer, not the file itself");
  EXPECT_EQ(looks_like(as_bytes("\n  {\"nodes\": []}")), "JSON text");
  EXPECT_EQ(looks_like(as_bytes("hello, world\n")), "text");
  EXPECT_EQ(looks_like(as_bytes("\0\0\0\1"sv)), "binary data of an unknown kind");
}

// ---- Links, NUL, limits -------------------------------------------------------------------------

TEST_F(Files, a_dangling_link_is_written_through) {
  fs::create_directory(path("store"));
  fs::create_symlink("store/target", path("near"));       // relative to the link's folder
  fs::create_symlink(path("store/far"), path("second"));  // absolute, over another link
  fs::create_symlink("second", path("first"));
  write_text(path("near"), "one");
  write_text(path("first"), "two");
  for (const char* name : {"near", "first", "second"})
    EXPECT_TRUE(fs::is_symlink(path(name))) << name;
  EXPECT_EQ(text_of(path("store/target")), "one");
  EXPECT_EQ(text_of(path("store/far")), "two");
  write_text(path("first"), "three");  // and again, where it points to a file now
  EXPECT_EQ(text_of(path("store/far")), "three");
  EXPECT_TRUE(fs::is_symlink(path("first")));
  EXPECT_EQ(entries(), 4U);
}

TEST_F(BadInputFiles, links_in_a_circle_or_into_no_folder) {
  fs::create_symlink("b", path("a"));
  fs::create_symlink("a", path("b"));
  fs::create_symlink("nowhere/file", path("c"));
  EXPECT_NE(io_message([&] { write_text(path("a"), "x"); }).find("levels of symbolic links"),
            std::string::npos);
  EXPECT_NE(io_message([&] { write_text(path("c"), "x"); }).find("No such file"),
            std::string::npos);
  EXPECT_TRUE(fs::is_symlink(path("a")) && fs::is_symlink(path("c")));
  EXPECT_EQ(entries(), 3U);
}

TEST_F(BadInputFiles, paths_with_nul_are_refused) {
  write_text(path("kept"), "text");
  const std::string bad = path("kept") + std::string("\0.tmp", 5);
  const auto refused = [](auto&& call) {
    try {
      call();
    } catch (const Error& e) {
      return e.kind() == ErrorKind::kValue &&
             std::string(e.what()).find("NUL byte") != std::string::npos;
    }
    return false;
  };
  EXPECT_TRUE(refused([&] { read_file(bad); }));
  EXPECT_TRUE(refused([&] { write_text(bad, "other"); }));
  EXPECT_TRUE(refused([&] { remove_file(bad); }));
  EXPECT_TRUE(refused([&] { rename_file(path("kept"), bad); }));
  EXPECT_TRUE(refused([&] { rename_file(bad, path("new")); }));
  EXPECT_TRUE(refused([&] { AppendFile(bad, AppendFile::Open::kContinue); }));
  EXPECT_EQ(text_of(path("kept")), "text");
  EXPECT_EQ(entries(), 1U);
}

TEST_F(BadInputFiles, bytes_beyond_the_limit) {
  write_text(path("file"), std::string(101, 'x'));
  const settings::override_for_test lowered("SYMBIND_LIMIT_FILE_BYTES", "100");
  const std::string text = io_message([&] { read_file(path("file")); });
  EXPECT_NE(text.find("file has 101 bytes; the limit is 100"), std::string::npos) << text;
  // A pipe says its size is 0.
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  std::thread writer([&] {
    const int end = ::open(path("pipe").c_str(), O_WRONLY);
    const std::string bytes(200, 'x');
    EXPECT_EQ(::write(end, bytes.data(), bytes.size()), 200);
    ::close(end);
  });
  const std::string piped = io_message([&] { read_file(path("pipe")); });
  writer.join();
  EXPECT_NE(piped.find("pipe has 200 bytes; the limit is 100"), std::string::npos) << piped;
  write_text(path("file"), std::string(100, 'x'));
  EXPECT_EQ(read_file(path("file")).size(), 100U);
}

}  // namespace
}  // namespace symbind
