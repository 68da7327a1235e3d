// Record files with keys, and the header of an image record.
//
// Decided here: an index is read completely and every line is checked; the last entry of a
// duplicate key wins, as in MXNet.
#include <charconv>
#include <cstring>
#include <unordered_map>

#include <symbind/recordio.h>

#include "base/check.h"
#include "base/stream_file.h"
#include "io/text_lines.h"

namespace symbind {
namespace {

template <class T>
bool take_number(std::string_view& line, T& value) {
  while (!line.empty() && (line.front() == ' ' || line.front() == '\t')) line.remove_prefix(1);
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), value);
  line.remove_prefix(static_cast<std::size_t>(end - line.data()));
  return error == std::errc();
}

constexpr std::size_t kHeaderSize = 24;

struct RawHeader {
  std::uint32_t flag;
  float label;
  std::uint64_t id, id2;
};
static_assert(sizeof(RawHeader) == kHeaderSize);

}  // namespace

RecordIndex read_record_index(const std::string& path) {
  RecordIndex index;
  TextLines lines(path);
  for (std::string_view line; lines.next(line);) {
    const std::string_view whole = line;
    std::int64_t key = 0;
    std::uint64_t offset = 0;
    if (!take_number(line, key) || !take_number(line, offset) ||
        line.find_first_not_of(" \t\r") != std::string_view::npos)
      lines.fail(fmt::format("'{}' is not of the form key, tab, offset", whole.substr(0, 40)));
    index.emplace_back(key, offset);
  }
  return index;
}

struct IndexedRecordWriter::State {
  RecordWriter records;
  StreamFile index;
};

IndexedRecordWriter::IndexedRecordWriter(const std::string& index_path, const std::string& path)
    : state_(new State{RecordWriter(path), StreamFile(index_path)}) {}

IndexedRecordWriter::~IndexedRecordWriter() = default;

void IndexedRecordWriter::write(std::int64_t key, std::span<const std::byte> record) {
  const std::uint64_t offset = tell();
  state_->records.write(record);
  const std::string line = fmt::format("{}\t{}\n", key, offset);
  state_->index.write(line.data(), line.size());
}

std::uint64_t IndexedRecordWriter::tell() const { return state_->records.tell(); }

void IndexedRecordWriter::close() {
  state_->records.close();
  state_->index.close();
}

struct IndexedRecordReader::State {
  RecordReader records;
  std::string index_path;
  std::vector<std::int64_t> keys;
  std::unordered_map<std::int64_t, std::uint64_t> offsets;
};

IndexedRecordReader::IndexedRecordReader(const std::string& index_path, const std::string& path)
    : state_(new State{RecordReader(path), index_path, {}, {}}) {
  for (const auto& [key, offset] : read_record_index(index_path)) {
    state_->keys.push_back(key);
    state_->offsets[key] = offset;
  }
}

IndexedRecordReader::~IndexedRecordReader() = default;

const std::vector<std::int64_t>& IndexedRecordReader::keys() const { return state_->keys; }

std::vector<std::byte> IndexedRecordReader::read(std::int64_t key) {
  const auto found = state_->offsets.find(key);
  check(found != state_->offsets.end(), ErrorKind::kIndex, "{}: there is no key {} among its {}",
        state_->index_path, key, state_->keys.size());
  state_->records.seek(found->second);
  std::vector<std::byte> record;
  check(state_->records.next(record), ErrorKind::kIo,
        "{}: key {} points at byte {}, the end of the record file", state_->index_path, key,
        found->second);
  return record;
}

std::vector<std::byte> pack(const RecordHeader& header, std::span<const std::byte> contents) {
  const bool single = header.labels.size() == 1 && header.flag == 0;
  const std::size_t labels = single ? 0 : header.labels.size() * sizeof(float);
  const RawHeader raw = {single ? 0 : static_cast<std::uint32_t>(header.labels.size()),
                         single ? header.labels.front() : 0, header.id, header.id2};
  std::vector<std::byte> record(kHeaderSize + labels + contents.size());
  std::memcpy(record.data(), &raw, kHeaderSize);
  if (labels > 0) std::memcpy(record.data() + kHeaderSize, header.labels.data(), labels);
  if (!contents.empty())
    std::memcpy(record.data() + kHeaderSize + labels, contents.data(), contents.size());
  return record;
}

RecordHeader unpack(std::span<const std::byte> record, std::span<const std::byte>& contents) {
  check(record.size() >= kHeaderSize, ErrorKind::kIo,
        "an image record of {} bytes; its header alone has {}", record.size(), kHeaderSize);
  RawHeader raw{};
  std::memcpy(&raw, record.data(), kHeaderSize);
  contents = record.subspan(kHeaderSize);
  RecordHeader header{{raw.label}, raw.id, raw.id2, raw.flag};
  if (raw.flag == 0) return header;
  check(raw.flag <= contents.size() / sizeof(float), ErrorKind::kIo,
        "an image record declares {} labels, but {} bytes follow", raw.flag, contents.size());
  header.labels.resize(raw.flag);
  std::memcpy(header.labels.data(), contents.data(), raw.flag * sizeof(float));
  contents = contents.subspan(raw.flag * sizeof(float));
  return header;
}

}  // namespace symbind
