#pragma once
// RecordIO: MXNet's packed data files (.rec), their indices (.idx), and the header of an image
// record.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace symbind {

/// Writes records one after another. Errors are kIo and name the path.
class RecordWriter {
 public:
  /// Truncates the file and restarts.
  explicit RecordWriter(const std::string& path);
  /// Closes, ignoring errors; call close() first to get them.
  ~RecordWriter();
  void write(std::span<const std::byte> record);
  /// Where the next record will begin.
  std::uint64_t tell() const;
  void close();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Reads records one after another. A damaged file is an Error kIo that names path and offset.
class RecordReader {
 public:
  /// The records of part `part_index` of `num_parts`: each record is in exactly one.
  explicit RecordReader(const std::string& path, int num_parts = 1, int part_index = 0);
  ~RecordReader();
  /// The next record; false at the end of the part.
  bool next(std::vector<std::byte>& record);
  /// Continues with the record that begins at this byte, even outside the part.
  void seek(std::uint64_t offset);
  /// Where the next record begins.
  std::uint64_t tell() const;
  /// Back to the first record of the part.
  void reset();
  void close();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// An .idx file: key and offset of every record, in the order of the file.
using RecordIndex = std::vector<std::pair<std::int64_t, std::uint64_t>>;
RecordIndex read_record_index(const std::string& path);

/// A record file with keys: the two files are written together.
class IndexedRecordWriter {
 public:
  IndexedRecordWriter(const std::string& index_path, const std::string& path);
  ~IndexedRecordWriter();
  void write(std::int64_t key, std::span<const std::byte> record);
  std::uint64_t tell() const;
  void close();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// A record file with keys, read in any order.
class IndexedRecordReader {
 public:
  IndexedRecordReader(const std::string& index_path, const std::string& path);
  ~IndexedRecordReader();
  /// In the order of the index.
  const std::vector<std::int64_t>& keys() const;
  /// The record of a key; Error kIndex if there is none.
  std::vector<std::byte> read(std::int64_t key);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The header of an image record: MXNet's IRHeader.
struct RecordHeader {
  /// One label, or several.
  std::vector<float> labels = {0};
  std::uint64_t id = 0, id2 = 0;
  /// Stored with a single label as 0; with an array of labels as their number.
  std::uint32_t flag = 0;
};

/// Header and contents as one record. A header of one label and flag 0 stores it in place, any
/// other stores its labels as an array.
std::vector<std::byte> pack(const RecordHeader& header, std::span<const std::byte> contents);
/// The header; `contents` becomes the rest of `record`.
RecordHeader unpack(std::span<const std::byte> record, std::span<const std::byte>& contents);

}  // namespace symbind
