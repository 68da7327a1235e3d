// RecordIO. A record is the magic number, a 32-bit word with a flag (3 bits) and a length (29
// bits), the bytes, and zeros up to a multiple of 4. If the bytes contain the magic number at a
// multiple of 4, it is removed there and the record continues in another part. Flag 0 marks a whole
// record, 1 the first part, 2 a middle part, 3 the last part. So the magic number at a multiple of
// 4 is always the beginning of a part; splitting a file into shards relies on this.
//
// Decided here: lengths are checked against the size of the file before memory is allocated.
#include <symbind/recordio.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/check.h"
#include "base/files.h"
#include "base/limits.h"
#include "base/stream_file.h"

namespace symbind {
namespace {

constexpr std::uint32_t kMagic = 0xCED7230A;
constexpr std::uint64_t kLengthLimit = std::uint64_t{1} << 29;
enum Flag : std::uint32_t { kWhole = 0, kFirst = 1, kMiddle = 2, kLast = 3 };

constexpr std::uint64_t padded(std::uint64_t length) { return (length + 3) / 4 * 4; }

struct Close {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Close>;

File open(const std::string& path) {
  check_path(path);
  File file(std::fopen(path.c_str(), "rb"));
  check(file != nullptr, ErrorKind::kIo, "{}: {}", path, std::strerror(errno));
  return file;
}

std::uint32_t word_at(const std::byte* bytes) {
  std::uint32_t word;
  std::memcpy(&word, bytes, sizeof(word));
  return word;
}

}  // namespace

// --------------------------------------------------------------------- writing

struct RecordWriter::State {
  StreamFile file;

  void put_part(Flag flag, std::span<const std::byte> bytes) {
    const std::uint32_t head[2] = {kMagic, flag << 29 | static_cast<std::uint32_t>(bytes.size())};
    file.write(head, sizeof(head));
    file.write(bytes.data(), bytes.size());
    constexpr char zeros[4] = {};
    file.write(zeros, padded(bytes.size()) - bytes.size());
  }
};

RecordWriter::RecordWriter(const std::string& path) : state_(new State{StreamFile(path)}) {}
RecordWriter::~RecordWriter() = default;

void RecordWriter::write(std::span<const std::byte> record) {
  State& s = *state_;
  check(record.size() < kLengthLimit, "{}: a record has {} bytes; RecordIO allows fewer than 2^29",
        s.file.path(), record.size());
  std::size_t begin = 0;
  for (std::size_t i = 0; i + 4 <= record.size(); i += 4) {
    if (word_at(record.data() + i) != kMagic) continue;
    s.put_part(begin == 0 ? kFirst : kMiddle, record.subspan(begin, i - begin));
    begin = i + 4;
  }
  s.put_part(begin == 0 ? kWhole : kLast, record.subspan(begin));
}

std::uint64_t RecordWriter::tell() const { return state_->file.size(); }
void RecordWriter::close() { state_->file.close(); }

// --------------------------------------------------------------------- reading

struct RecordReader::State {
  std::string path;
  File file;
  std::uint64_t size = 0, begin = 0, end = 0, offset = 0;

  [[noreturn]] void fail_at(std::uint64_t at, std::string_view what) const {
    symbind::fail(ErrorKind::kIo, "{}: {} (at byte {})", path, what, at);
  }
  void move_to(std::uint64_t to) {
    if (::fseeko(file.get(), static_cast<::off_t>(to), SEEK_SET) != 0)
      fail_at(to, std::strerror(errno));
    offset = to;
  }
  void get(void* out, std::size_t bytes) {
    if (std::fread(out, 1, bytes, file.get()) != bytes)
      fail_at(offset, std::ferror(file.get()) != 0 ? std::strerror(errno) : "the file ends here");
    offset += bytes;
  }
  Flag get_part(std::vector<std::byte>& record);
  std::uint64_t first_record_from(std::uint64_t at);
};

/// Appends one part; the file is positioned at its magic number.
Flag RecordReader::State::get_part(std::vector<std::byte>& record) {
  const std::uint64_t start = offset;
  if (size - start < 8) fail_at(start, "the file ends inside the header of a record");
  std::uint32_t head[2];
  get(head, sizeof(head));
  if (head[0] != kMagic)
    fail_at(start,
            fmt::format("no record begins here: 0x{:08X} instead of the magic number", head[0]));
  const std::uint32_t flag = head[1] >> 29, length = head[1] & (kLengthLimit - 1);
  if (flag > kLast)
    fail_at(start + 4, fmt::format("a record has flag {}; it must be 0 to 3", flag));
  if (length > size - offset)
    fail_at(start + 4,
            fmt::format("a record of {} bytes, but the file has {} left", length, size - offset));
  const bool continues = flag == kMiddle || flag == kLast;
  const std::size_t had = record.size();
  check_limit(Limit::kFileBytes, static_cast<std::int64_t>(had + length + 4), path, ErrorKind::kIo);
  record.resize(had + (continues ? 4 : 0) + length);
  std::byte* out = record.data() + had;
  if (continues) {
    std::memcpy(out, &kMagic, 4);
    out += 4;
  }
  get(out, length);
  const std::uint64_t next = padded(offset - start) + start;
  move_to(next < size ? next : size);
  return static_cast<Flag>(flag);
}

/// Where the first record at or after `at` begins.
std::uint64_t RecordReader::State::first_record_from(std::uint64_t at) {
  move_to(padded(at) < size ? padded(at) : size);
  std::uint32_t before = 0;
  while (size - offset >= 4) {
    std::uint32_t word;
    get(&word, sizeof(word));
    if (before == kMagic && (word >> 29 == kWhole || word >> 29 == kFirst)) return offset - 8;
    before = word;
  }
  return size;
}

RecordReader::RecordReader(const std::string& path, int num_parts, int part_index)
    : state_(std::make_unique<State>()) {
  State& s = *state_;
  s.path = path;
  check(num_parts > 0 && part_index >= 0 && part_index < num_parts,
        "{}: part_index is {} and num_parts is {}; it must be at least 0 and below num_parts", path,
        part_index, num_parts);
  s.file = open(path);
  ::fseeko(s.file.get(), 0, SEEK_END);
  const ::off_t size = ::ftello(s.file.get());
  check(size >= 0, ErrorKind::kIo, "{}: {}", path, std::strerror(errno));
  s.size = s.end = static_cast<std::uint64_t>(size);
  if (num_parts > 1) {
    const auto parts = static_cast<std::uint64_t>(num_parts);
    const std::uint64_t share = padded((s.size + parts - 1) / parts);
    const auto part = static_cast<std::uint64_t>(part_index);
    s.begin = part == 0 ? 0 : s.first_record_from(share * part);
    s.end = s.first_record_from(share * (part + 1));
  }
  s.move_to(s.begin);
}

RecordReader::~RecordReader() = default;

bool RecordReader::next(std::vector<std::byte>& record) {
  State& s = *state_;
  check(s.file != nullptr, ErrorKind::kState, "{}: the reader is closed", s.path);
  record.clear();
  if (s.offset >= s.end) return false;
  const std::uint64_t start = s.offset;
  Flag flag = s.get_part(record);
  if (flag == kMiddle || flag == kLast)
    s.fail_at(start, "this is a later part of a record whose first part is missing");
  while (flag == kFirst || flag == kMiddle) {
    const std::uint64_t part = s.offset;
    if (part >= s.size) s.fail_at(part, "the file ends inside a record of several parts");
    flag = s.get_part(record);
    if (flag == kWhole || flag == kFirst)
      s.fail_at(part, "a new record begins before the last one was complete");
  }
  return true;
}

void RecordReader::seek(std::uint64_t offset) {
  State& s = *state_;
  check(s.file != nullptr, ErrorKind::kState, "{}: the reader is closed", s.path);
  check(offset <= s.size, ErrorKind::kIo, "{}: offset {} is beyond its end, byte {}", s.path,
        offset, s.size);
  s.end = s.size;
  s.move_to(offset);
}

std::uint64_t RecordReader::tell() const { return state_->offset; }
void RecordReader::reset() {
  check(state_->file != nullptr, ErrorKind::kState, "{}: the reader is closed", state_->path);
  state_->move_to(state_->begin);
}
void RecordReader::close() { state_->file.reset(); }

}  // namespace symbind
