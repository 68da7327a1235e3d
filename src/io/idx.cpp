// idx: the format of MNIST. Two zero bytes, the element type (8 is unsigned byte), the rank, one
// big-endian 32-bit extent per axis, then the elements.
//
// Decided here: only unsigned bytes are read, the only type that data sets use. The elements are
// decompressed directly into the array. Before it is allocated, its size is checked against what
// the file could hold: deflate compresses at most 1032 times, so a false header costs nothing.
#include <symbind/io.h>

#include <zlib.h>

#include <algorithm>
#include <array>

#include "base/check.h"
#include "base/files.h"
#include "base/limits.h"
#include "ndarray/access.h"

namespace symbind {
namespace {

constexpr std::uint64_t kDeflateRatio = 1032;
constexpr int kGzip = 16 + MAX_WBITS;

/// The contents of a file, decompressed if it is gzipped, from its first byte to its last.
class Source {
 public:
  explicit Source(const std::string& path) : path_(path), file_(read_file(path)) {
    gzip_ = file_.size() >= 2 && file_[0] == std::byte{0x1f} && file_[1] == std::byte{0x8b};
    if (gzip_ && inflateInit2(&stream_, kGzip) != Z_OK)
      symbind::fail(ErrorKind::kMemory, "{}: not enough memory to decompress it", path_);
  }
  ~Source() {
    if (gzip_) inflateEnd(&stream_);
  }
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;

  /// Fills `out` or fails.
  void read(std::span<std::byte> out) {
    const std::size_t got = gzip_ ? read_gzip(out) : read_plain(out);
    if (got < out.size())
      fail(fmt::format("the file ends too early: {} bytes wanted, {} left", out.size(), got));
    offset_ += got;
  }
  /// Fails unless everything was read; in a gzip file this checks its checksum.
  void expect_end() {
    std::byte more;
    const std::size_t got = gzip_ ? read_gzip({&more, 1}) : read_plain({&more, 1});
    if (got > 0 || (gzip_ && taken_ < file_.size())) fail("more bytes than the header declares");
    if (gzip_ && !finished_) fail("the gzip file ends too early");
  }
  /// No file of this size holds more.
  std::uint64_t most_bytes() const { return file_.size() * (gzip_ ? kDeflateRatio : 1); }
  const std::string& path() const { return path_; }
  std::string first_bytes_look_like() const { return looks_like(file_); }

  [[noreturn]] void fail(std::string_view what) const {
    symbind::fail(ErrorKind::kIo, "{}: {} (at byte {}{})", path_, what, offset_,
                  gzip_ ? " of its contents" : "");
  }

 private:
  std::size_t read_plain(std::span<std::byte> out) {
    const std::size_t n = std::min(out.size(), file_.size() - taken_);
    std::copy_n(file_.data() + taken_, n, out.data());
    taken_ += n;
    return n;
  }

  // zlib counts in 32 bits: input and output go through in pieces.
  std::size_t read_gzip(std::span<std::byte> out) {
    constexpr std::size_t kPiece = 1U << 30;
    std::size_t done = 0;
    while (done < out.size() && !finished_) {
      const std::size_t in_piece = std::min(kPiece, file_.size() - taken_);
      const std::size_t out_piece = std::min(kPiece, out.size() - done);
      stream_.next_in = reinterpret_cast<Bytef*>(file_.data() + taken_);
      stream_.avail_in = static_cast<uInt>(in_piece);
      stream_.next_out = reinterpret_cast<Bytef*>(out.data() + done);
      stream_.avail_out = static_cast<uInt>(out_piece);
      const int status = inflate(&stream_, Z_NO_FLUSH);
      taken_ += in_piece - stream_.avail_in;
      done += out_piece - stream_.avail_out;
      if (status == Z_STREAM_END) {
        finished_ = true;
      } else if (status == Z_BUF_ERROR) {
        break;  // the input is used up
      } else if (status == Z_MEM_ERROR) {
        symbind::fail(ErrorKind::kMemory, "{}: not enough memory to decompress it", path_);
      } else if (status != Z_OK) {
        offset_ += done;
        fail(fmt::format("damaged gzip data ({})", stream_.msg ? stream_.msg : "no reason given"));
      }
    }
    return done;
  }

  std::string path_;
  std::vector<std::byte> file_;
  bool gzip_ = false, finished_ = false;
  std::size_t taken_ = 0;     // of the file
  std::uint64_t offset_ = 0;  // in the contents
  z_stream stream_{};
};

Shape read_header(Source& source) {
  std::array<std::byte, 4> magic{};
  source.read(magic);
  if (magic[0] != std::byte{0} || magic[1] != std::byte{0})
    source.fail("not an idx file; it looks like " + source.first_bytes_look_like());
  if (magic[2] != std::byte{8})
    source.fail(fmt::format("idx element type 0x{:02x}; only unsigned bytes (0x08) are read",
                            std::to_integer<int>(magic[2])));
  const int rank = std::to_integer<int>(magic[3]);
  if (rank < 1 || rank > kMaxRank)
    source.fail(fmt::format("idx rank {}; 1 to {} are read", rank, kMaxRank));
  Shape shape;
  std::uint64_t bytes = 1;
  for (int axis = 0; axis < rank; ++axis) {
    std::array<std::byte, 4> raw{};
    source.read(raw);
    std::uint32_t extent = 0;
    for (const std::byte b : raw) extent = extent << 8 | std::to_integer<std::uint32_t>(b);
    if (extent == 0) source.fail(fmt::format("axis {} of the idx header has extent 0", axis));
    if (bytes > source.most_bytes() / extent)
      source.fail("the idx header declares more elements than a file of this size can hold");
    bytes *= extent;
    shape.push_back(extent);
  }
  check_limit(Limit::kFileBytes, static_cast<std::int64_t>(bytes), source.path(), ErrorKind::kIo);
  return shape;
}

}  // namespace

NDArray read_idx(const std::string& path) {
  Source source(path);
  const Shape shape = read_header(source);
  NDArray array(shape, cpu(), DType::kUint8);
  source.read({write_pointer(array), array.nbytes()});
  source.expect_end();
  return array;
}

}  // namespace symbind
