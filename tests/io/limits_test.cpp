// Untrusted data files: reads into memory are limited, and paths with a NUL byte are refused.
#include <gtest/gtest.h>
#include <zlib.h>

#include <symbind/io.h>
#include <symbind/recordio.h>

#include "base/settings.h"
#include "io/files.h"
#include "io/text_lines.h"

namespace symbind {
namespace {

std::string gzipped(const std::string& text) {
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

TEST(BadInputLimitsOfData, idx_lines_and_records) {
  using namespace std::string_literals;
  const std::string bytes = "\0\0\x08\x01\0\0\x27\x10"s + std::string(10'000, 'a');
  const TemporaryFile idx(gzipped(bytes)), line(std::string(3 << 20, '1') + "\n"), records;
  {
    RecordWriter writer(records.path());
    const std::string record(10'000, 'r');
    writer.write(std::as_bytes(std::span(record)));
    writer.close();
  }
  const auto read_line = [&] {
    TextLines lines(line.path());
    std::string_view text;
    lines.next(text);
    return text.size();
  };
  const auto read_record = [&] {
    RecordReader reader(records.path());
    std::vector<std::byte> record;
    reader.next(record);
    return record.size();
  };
  EXPECT_EQ(read_idx(idx.path()).size(), 10'000);
  EXPECT_EQ(read_line(), std::size_t{3} << 20);
  EXPECT_EQ(read_record(), 10'000U);
  const settings::override_for_test lowered("SYMBIND_LIMIT_FILE_BYTES", "9999");
  expect_error(
      ErrorKind::kIo, [&] { read_idx(idx.path()); }, idx.path(), "10000 bytes; the limit is 9999");
  expect_error(ErrorKind::kIo, read_line, line.path(), "the limit is 9999");
  expect_error(ErrorKind::kIo, read_record, records.path(), "the limit is 9999");
}

TEST(BadInputLimitsOfData, paths_with_nul) {
  const TemporaryFile kept("1\n");
  const std::string bad = kept.path() + std::string("\0.csv", 5);
  const auto refused = [](auto&& call) { expect_error(ErrorKind::kValue, call, "NUL byte"); };
  refused([&] { read_idx(bad); });
  refused([&] { TextLines lines(bad); });
  refused([&] { RecordReader reader(bad); });
  refused([&] { RecordWriter writer(bad); });
  refused([&] { IndexedRecordWriter writer(bad, kept.path() + ".rec"); });
  std::filesystem::remove(kept.path() + ".rec");
  EXPECT_EQ(contents_of(kept.path()), "1\n");
}

}  // namespace
}  // namespace symbind
