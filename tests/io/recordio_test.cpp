#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <cstdlib>
#include <memory>
#include <set>

#include <symbind/recordio.h>

#include "io/files.h"

namespace symbind {
namespace {

const std::string kMagic = "\x0A\x23\xD7\xCE";

std::span<const std::byte> bytes(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}
std::string text(std::span<const std::byte> data) {
  return {reinterpret_cast<const char*>(data.data()), data.size()};
}
std::string word(std::uint32_t value) {
  return {reinterpret_cast<const char*>(&value), sizeof(value)};
}
std::string part(std::uint32_t flag, const std::string& contents) {
  const std::size_t fill = (4 - contents.size() % 4) % 4;
  return kMagic + word(flag << 29 | static_cast<std::uint32_t>(contents.size())) + contents +
         std::string(fill, '\0');
}

std::vector<std::string> all_records(RecordReader& reader) {
  std::vector<std::string> result;
  for (std::vector<std::byte> record; reader.next(record);) result.push_back(text(record));
  return result;
}

std::vector<std::string> recorded_records() {
  std::vector<std::string> result;
  const auto recorded = recorded_values("records.json");
  for (const auto& hex : recorded[0]["records"]) result.push_back(from_hex(hex));
  return result;
}

TEST(GoldenRecordIO, reads_what_mxnet_wrote) {
  RecordReader reader(golden_path("records.rec"));
  EXPECT_EQ(all_records(reader), recorded_records());
  reader.reset();
  EXPECT_EQ(all_records(reader).size(), recorded_records().size());
  IndexedRecordReader indexed(golden_path("records.idx"), golden_path("records.rec"));
  ASSERT_EQ(indexed.keys().size(), recorded_records().size());
  for (std::size_t i = indexed.keys().size(); i-- > 0;) {
    EXPECT_EQ(indexed.keys()[i], static_cast<std::int64_t>(3 * i));
    EXPECT_EQ(text(indexed.read(indexed.keys()[i])), recorded_records()[i]);
  }
}

TEST(GoldenRecordIO, writes_the_same_bytes) {
  const TemporaryFile rec, idx;
  {
    IndexedRecordWriter writer(idx.path(), rec.path());
    std::int64_t key = 0;
    for (const std::string& record : recorded_records()) {
      writer.write(key, bytes(record));
      key += 3;
    }
    writer.close();
  }
  EXPECT_EQ(contents_of(rec.path()), contents_of(golden_path("records.rec")));
  EXPECT_EQ(contents_of(idx.path()), contents_of(golden_path("records.idx")));
}

TEST(GoldenRecordIO, packs_headers_as_mxnet) {
  const auto all = recorded_values("records.json");
  for (const auto& recorded : all[0]["packed"]) {
    const auto& given = recorded["header"];
    RecordHeader header;
    header.labels = given[1].is_array() ? given[1].get<std::vector<float>>()
                                        : std::vector<float>{given[1].get<float>()};
    header.id = std::stoull(given[2].get<std::string>());
    header.id2 = std::stoull(given[3].get<std::string>());
    const std::string contents = from_hex(recorded["contents"]);
    const std::vector<std::byte> packed = pack(header, bytes(contents));
    EXPECT_EQ(text(packed), from_hex(recorded["packed"]));
    std::span<const std::byte> rest;
    const RecordHeader back = unpack(packed, rest);
    EXPECT_EQ(back.labels, header.labels);
    EXPECT_EQ(back.id, header.id);
    EXPECT_EQ(back.id2, header.id2);
    EXPECT_EQ(text(rest), contents);
  }
}

TEST(RecordIO, every_record_is_in_one_shard) {
  const TemporaryFile rec;
  std::set<std::string> written;
  {
    RecordWriter writer(rec.path());
    for (int i = 0; i < 40; ++i) {
      std::string record = fmt::format("{:03}", i) + std::string(static_cast<std::size_t>(i), 'x');
      if (i % 3 == 0) record = "1234" + kMagic + record;
      writer.write(bytes(record));
      written.insert(record);
    }
  }
  for (int parts = 1; parts < 50; parts += 3) {
    std::vector<std::string> seen;
    for (int p = 0; p < parts; ++p) {
      RecordReader reader(rec.path(), parts, p);
      const std::vector<std::string> found = all_records(reader);
      seen.insert(seen.end(), found.begin(), found.end());
    }
    EXPECT_EQ(seen.size(), written.size()) << parts;
    EXPECT_EQ(std::set<std::string>(seen.begin(), seen.end()), written) << parts;
  }
}

TEST(RecordIO, tell_and_seek) {
  const TemporaryFile rec;
  RecordWriter writer(rec.path());
  EXPECT_EQ(writer.tell(), 0U);
  writer.write(bytes("hello"));
  EXPECT_EQ(writer.tell(), 16U);
  writer.write(bytes("again"));
  writer.close();
  RecordReader reader(rec.path());
  reader.seek(16);
  EXPECT_EQ(all_records(reader), std::vector<std::string>{"again"});
  EXPECT_EQ(reader.tell(), 32U);
}

void expect_refused(const std::string& contents, std::size_t at, const std::string& what) {
  const TemporaryFile rec(contents);
  RecordReader reader(rec.path());
  expect_error(
      ErrorKind::kIo, [&] { all_records(reader); }, rec.path(), what,
      fmt::format("(at byte {})", at));
}

TEST(BadInputRecordIO, path_and_offset_are_named) {
  const std::string good = part(0, "abcd");
  expect_refused(good + "xxxxyyyyzzzz", 12, "no record begins here");
  expect_refused(good + kMagic, 12, "ends inside the head");
  expect_refused(good + kMagic + word(100) + "abc", 16,
                 "a record of 100 bytes, but the file has 3");
  expect_refused(kMagic + word((1U << 29) - 1), 4, "a record of 536870911 bytes");
  expect_refused(kMagic + word(5U << 29), 4, "flag 5");
  expect_refused(good + part(3, "ab"), 12, "first part is missing");
  expect_refused(good + part(1, "abcd"), 24, "ends inside a record of several parts");
  expect_refused(part(1, "abcd") + part(0, "x"), 12, "before the last one was complete");
  expect_refused(part(1, "abcd") + part(2, "") + part(1, "x"), 20, "before the last one");
  expect_refused("a PNG or so", 0, "no record begins here");
}

TEST(BadInputRecordIO, seeks_and_indices) {
  const TemporaryFile rec(part(0, "abcd") + part(0, "efgh"));
  RecordReader reader(rec.path());
  std::vector<std::byte> record;
  expect_error(
      ErrorKind::kIo, [&] { reader.seek(25); }, rec.path(), "25", "24");
  reader.seek(4);
  expect_error(
      ErrorKind::kIo, [&] { reader.next(record); }, rec.path(), "(at byte 4)");
  const TemporaryFile idx("0\t0\n1\t24\n2\t13\n3\t999\n");
  IndexedRecordReader indexed(idx.path(), rec.path());
  EXPECT_EQ(text(indexed.read(0)), "abcd");
  expect_error(
      ErrorKind::kIo, [&] { indexed.read(1); }, idx.path(), "key 1", "byte 24");
  expect_error(
      ErrorKind::kIo, [&] { indexed.read(2); }, rec.path(), "(at byte 13)");
  expect_error(
      ErrorKind::kIo, [&] { indexed.read(3); }, rec.path(), "999");
  expect_error(
      ErrorKind::kIndex, [&] { indexed.read(7); }, idx.path(), "key 7");
  const TemporaryFile text_idx("0\t0\nzero 12\n");
  expect_error(
      ErrorKind::kIo, [&] { read_record_index(text_idx.path()); }, text_idx.path(), "line 2");
  const TemporaryFile half_idx("5\n");
  expect_error(
      ErrorKind::kIo, [&] { read_record_index(half_idx.path()); }, "line 1");
}

// A child that exits flushes the buffers of <cstdio> too: records would be there twice.
TEST(RecordIO, a_forked_child_writes_nothing_of_the_parents) {
  const TemporaryFile rec, idx;
  auto writer = std::make_unique<IndexedRecordWriter>(idx.path(), rec.path());
  writer->write(1, bytes("one"));
  EXPECT_EXIT(std::exit(0), ::testing::ExitedWithCode(0), "");
  EXPECT_EXIT(
      {
        writer.reset();
        std::exit(0);
      },
      ::testing::ExitedWithCode(0), "");
  EXPECT_EXIT(
      {
        try {
          writer->write(3, bytes("of the child"));
        } catch (const Error& e) {
          writer->close();
          std::exit(e.kind() == ErrorKind::kState ? 3 : 4);
        }
        std::exit(5);
      },
      ::testing::ExitedWithCode(3), "");
  writer->write(2, bytes("two"));
  writer->close();
  RecordReader reader(rec.path());
  EXPECT_EQ(all_records(reader), (std::vector<std::string>{"one", "two"}));
  EXPECT_EQ(read_record_index(idx.path()), (RecordIndex{{1, 0}, {2, 12}}));
}

TEST(RecordIO, records_larger_than_the_buffer_keep_their_order) {
  const TemporaryFile rec;
  std::vector<std::string> written;
  for (const std::size_t size : {1UL, 65000UL, 600UL, 65536UL, 65535UL, 3UL, 200000UL, 0UL, 7UL})
    written.push_back(std::string(size, static_cast<char>('a' + written.size())));
  {
    RecordWriter writer(rec.path());
    for (const std::string& record : written) writer.write(bytes(record));
  }
  RecordReader reader(rec.path());
  EXPECT_EQ(all_records(reader), written);
}

TEST(BadInputRecordIO, files_and_arguments) {
  expect_error(
      ErrorKind::kIo, [] { RecordReader("/nowhere/a.rec"); }, "/nowhere/a.rec");
  expect_error(
      ErrorKind::kIo, [] { RecordWriter("/nowhere/a.rec"); }, "/nowhere/a.rec");
  const TemporaryFile rec(part(0, "abcd"));
  expect_error(
      ErrorKind::kValue, [&] { RecordReader(rec.path(), 2, 2); }, "part_index is 2");
  RecordWriter writer(rec.path());
  writer.close();
  expect_error(
      ErrorKind::kState, [&] { writer.write(bytes("x")); }, "closed");
  std::span<const std::byte> rest;
  expect_error(
      ErrorKind::kIo, [&] { unpack(bytes("short"), rest); }, "5 bytes", "24");
  const std::string lying = word(1000) + std::string(28, '\0');
  expect_error(
      ErrorKind::kIo, [&] { unpack(bytes(lying), rest); }, "1000 labels", "8 bytes");
}

// A limit on the size of files stands for a full disk: it needs no device and no rights.
TEST(BadInputRecordIO, a_disk_that_is_full) {
  const TemporaryFile rec;
  struct rlimit before {};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  struct rlimit small = before;
  small.rlim_cur = 1000;
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  RecordWriter writer(rec.path());
  expect_error(
      ErrorKind::kIo,
      [&] {
        writer.write(bytes(std::string(1 << 20, 'x')));
        writer.close();
      },
      rec.path(), "File too large");
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
}

}  // namespace
}  // namespace symbind
