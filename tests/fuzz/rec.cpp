// RecordIO: the text before the first magic number is the index, the rest the records.

#include <symbind/recordio.h>

#include "fuzz/support.h"

namespace symbind::fuzz {
namespace {

constexpr std::string_view kMagic = "\x0A\x23\xD7\xCE";

bool read_all(const std::string& path, int parts, int part) {
  return answers([&] {
    RecordReader reader(path, parts, part);
    std::vector<std::byte> record;
    for (int i = 0; i < 200 && reader.next(record); ++i) {
      std::span<const std::byte> contents;
      answers([&] {
        const RecordHeader header = unpack(record, contents);
        must(contents.size() <= record.size(), "the contents are part of the record");
        answers([&] { pack(header, contents); });
      });
    }
    reader.reset();
    reader.next(record);
  });
}

}  // namespace

int rec(Bytes bytes) {
  const std::string_view text = text_of(bytes);
  const std::size_t at = std::min(text.find(kMagic), text.size());
  const std::string records = write_file("a.rec", text.substr(at));
  const std::string index = write_file("a.idx", text.substr(0, at));
  const bool whole = read_all(records, 1, 0);
  for (int part = 0; part < 3; ++part) read_all(records, 3, part);
  const bool indexed = answers([&] {
    IndexedRecordReader reader(index, records);
    for (std::size_t i = 0; i < reader.keys().size() && i < 200; ++i)
      answers([&] { reader.read(reader.keys()[i]); });
  });
  return whole + (whole && indexed && at > 0);
}

}  // namespace symbind::fuzz
