// Text files line by line.
//
// Decided here: files are read in pieces of 64 KiB, whatever their size; a line has at most
// Limit::kFileBytes. A part begins after the first line end at or after its first byte, and ends
// after the first one at or after its last: every line is in exactly one part, as in MXNet.
#include "io/text_lines.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/check.h"
#include "base/files.h"
#include "base/limits.h"

namespace symbind {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kPiece = 1 << 16;

std::vector<std::string> files_of(const std::string& paths) {
  check_path(paths);
  std::vector<std::string> result;
  for (std::size_t at = 0; at <= paths.size();) {
    const std::size_t end = std::min(paths.find(';', at), paths.size());
    const std::string path = paths.substr(at, end - at);
    at = end + 1;
    if (path.empty()) continue;
    std::error_code error;
    if (!fs::is_directory(path, error)) {
      result.push_back(path);
      continue;
    }
    std::vector<std::string> inside;
    for (const auto& entry : fs::directory_iterator(path, error))
      if (entry.is_regular_file(error)) inside.push_back(entry.path().string());
    std::sort(inside.begin(), inside.end());
    check(!inside.empty(), ErrorKind::kIo, "{}: the folder has no files", path);
    result.insert(result.end(), inside.begin(), inside.end());
  }
  check(!result.empty(), "no file given");
  return result;
}

std::int64_t size_of_file(const std::string& path) {
  std::error_code error;
  const auto size = fs::file_size(path, error);
  check(!error, ErrorKind::kIo, "{}: {}", path, error.message());
  return static_cast<std::int64_t>(size);
}

bool blank(std::string_view line) {
  return line.find_first_not_of(" \t\r") == std::string_view::npos;
}

}  // namespace

TextLines::TextLines(const std::string& paths, int parts, int part) {
  check(parts > 0 && part >= 0 && part < parts,
        "part_index is {} and num_parts is {}; it must be at least 0 and below num_parts", part,
        parts);
  std::int64_t total = 0;
  for (const std::string& path : files_of(paths)) {
    const std::int64_t size = size_of_file(path);
    pieces_.push_back({path, total, total + size});
    total += size;
  }
  const std::int64_t share = (total + parts - 1) / parts;
  const std::int64_t begin = std::min(share * part, total), end = std::min(begin + share, total);
  std::erase_if(pieces_, [&](const Piece& p) { return p.end <= begin || p.begin >= end; });
  for (Piece& p : pieces_) {
    const std::int64_t start = p.begin;
    p.begin = std::max(begin - start, std::int64_t{0});
    p.end = std::min(end, p.end) - start;
  }
  if (pieces_.empty()) pieces_.push_back({files_of(paths).front(), 0, 0});
  open();
}

TextLines::~TextLines() = default;

const std::string& TextLines::path() const {
  return pieces_[std::min(piece_, pieces_.size() - 1)].path;
}

void TextLines::fail(std::string_view what) const {
  symbind::fail(ErrorKind::kIo, "{}, line {}: {}", path(), line_, what);
}

void TextLines::rewind() {
  started_ = false;
  piece_ = 0;
  line_ = 0;
}

/// Opens the piece's file as file_.
void TextLines::open() {
  if (file_ != nullptr && open_ == piece_) return;
  const std::string& path = pieces_[piece_].path;
  file_.reset(std::fopen(path.c_str(), "rb"));
  check(file_ != nullptr, ErrorKind::kIo, "{}: {}", path, std::strerror(errno));
  open_ = piece_;
}

/// To the first line of the piece.
void TextLines::start() {
  open();
  const Piece& piece = pieces_[piece_];
  check(std::fseek(file_.get(), 0, SEEK_SET) == 0, ErrorKind::kIo, "{}: {}", piece.path,
        std::strerror(errno));
  started_ = true;
  at_ = filled_ = 0;
  offset_ = 0;
  line_ = 0;
  std::string_view skipped;
  while (offset_ < piece.begin || (piece.begin > 0 && offset_ == piece.begin)) {
    // A line that begins at or before the first byte belongs to the part before.
    if (!read_line(skipped)) break;
  }
  if (piece.begin == 0 && refill() >= 3 && std::memcmp(buffer_.data(), "\xEF\xBB\xBF", 3) == 0) {
    at_ = 3;  // a byte order mark
    offset_ = 3;
  }
}

/// Bytes in the buffer from at_ on, after reading more.
std::size_t TextLines::refill() {
  if (at_ > 0) std::memmove(buffer_.data(), buffer_.data() + at_, filled_ - at_);
  filled_ -= at_;
  at_ = 0;
  check_limit(Limit::kFileBytes, static_cast<std::int64_t>(filled_), path(), ErrorKind::kIo);
  if (buffer_.size() < filled_ + kPiece) buffer_.resize(filled_ + kPiece);
  const std::size_t got = std::fread(buffer_.data() + filled_, 1, kPiece, file_.get());
  check(got > 0 || std::ferror(file_.get()) == 0, ErrorKind::kIo, "{}: {}", path(),
        std::strerror(errno));
  filled_ += got;
  return got;
}

/// The next line of the open file, blank or not.
bool TextLines::read_line(std::string_view& line) {
  std::size_t looked = 0;
  while (true) {
    const char* begin = buffer_.data() + at_;
    const std::size_t have = filled_ - at_;
    const auto* end =
        have > looked ? static_cast<const char*>(std::memchr(begin + looked, '\n', have - looked))
                      : nullptr;
    if (end != nullptr) {
      const auto length = static_cast<std::size_t>(end - begin);
      line = {begin, length};
      at_ += length + 1;
      offset_ += static_cast<std::int64_t>(length) + 1;
      ++line_;
      return true;
    }
    looked = have;
    if (refill() > 0) continue;
    if (have == 0) return false;
    line = {buffer_.data(), filled_};
    at_ = filled_;
    offset_ += static_cast<std::int64_t>(have);
    ++line_;
    return true;
  }
}

bool TextLines::next(std::string_view& line) {
  for (; piece_ < pieces_.size(); ++piece_, started_ = false) {
    if (!started_) start();
    // A line that begins at the part's end still belongs to it: see start().
    const std::int64_t end = pieces_[piece_].end;
    while (offset_ <= end && read_line(line))
      if (!blank(line)) return true;
  }
  return false;
}

}  // namespace symbind
