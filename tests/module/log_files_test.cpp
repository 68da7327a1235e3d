// Machine-readable logs: complete lines, continued files, event files with TensorBoard's checks.
// The Python tests read the same bytes with a separate parser.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <limits>
#include <sstream>

#include <symbind/callback.h>
#include <symbind/event_file.h>
#include <symbind/log_files.h>

#include "base/crc32c.h"
#include "module/nets.h"
#include "support/capture_log.h"

namespace symbind {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::MatchesRegex;

std::string contents(const std::string& path) {
  std::stringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

Names lines_of(const std::string& path) {
  Names lines;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

TEST(CsvLog, a_header_once_and_a_line_for_each_event) {
  const TemporaryFolder folder;
  const std::string path = folder / "log.csv";
  make_csv_log(path)->write({.epoch = 1, .nbatch = 2, .values = {{"acc", 0.5}, {"a,b", 0.1}}});
  make_csv_log(path)->write(
      {.epoch = 3,
       .nbatch = 4,
       .values = {{"acc", std::numeric_limits<double>::quiet_NaN()}, {"a,b", 1e-300}}});
  EXPECT_THAT(lines_of(path), ElementsAre("time,phase,epoch,nbatch,acc,\"a,b\"",
                                          MatchesRegex("[0-9]+\\.[0-9]+,train,1,2,0.5,0.1"),
                                          MatchesRegex("[0-9]+\\.[0-9]+,train,3,4,nan,1e-300")));
}

TEST(CsvLog, what_a_crash_cut_short_is_taken_off) {
  const TemporaryFolder folder;
  const std::string path = folder / "log.csv";
  for (const char* left :
       {"time,pha", "time,phase,epoch,nbatch,acc\n", "time,phase,epoch,nbatch,acc\n1.0,tra"}) {
    std::ofstream(path, std::ios::trunc) << left;
    make_csv_log(path)->write({.values = {{"acc", 1}}});
    EXPECT_THAT(lines_of(path),
                ElementsAre("time,phase,epoch,nbatch,acc", HasSubstr(",train,0,0,1")))
        << left;
  }
}

TEST(BadInputLogs, a_file_of_another_kind_is_unchanged) {
  const TemporaryFolder folder;
  const std::string path = folder / "thesis.txt";
  std::ofstream(path) << "chapter one";
  expect_error(
      ErrorKind::kIo, [&] { make_csv_log(path); }, path, "not a log of this kind");
  expect_error(
      ErrorKind::kIo, [&] { make_jsonl_log(path); }, path, "not a log of this kind");
  EXPECT_EQ(contents(path), "chapter one");
  expect_error(
      ErrorKind::kIo, [&] { make_csv_log(folder / "no/such/log.csv"); }, "no/such/log.csv");
  const auto log = make_csv_log(folder / "log.csv");
  log->write({.values = {{"acc", 1}}});
  expect_error(
      ErrorKind::kValue,
      [&] {
        log->write({.values = {{"mse", 1}}});
      },
      "nbatch,acc'", "nbatch,mse'", "fix:");
  std::ofstream(folder / "file") << "";
  expect_error(
      ErrorKind::kIo, [&] { EventFile(folder / "file"); }, "file");
}

TEST(JsonLinesLog, an_object_in_each_line_and_no_torn_ones) {
  const TemporaryFolder folder;
  const std::string path = folder / "log.jsonl";
  make_jsonl_log(path)->write({.phase = "a\"b", .values = {{"acc", 0.25}}});
  std::ofstream(path, std::ios::app) << "{\"time\": 1";
  make_jsonl_log(path)->write(
      {.epoch = 2, .values = {{"mse", -std::numeric_limits<double>::infinity()}}});
  EXPECT_THAT(lines_of(path),
              ElementsAre(MatchesRegex("\\{\"time\": [0-9.]+, \"phase\": \"a\\\\\"b\", \"epoch\": "
                                       "0, \"nbatch\": 0, \"acc\": 0.25\\}"),
                          HasSubstr("\"epoch\": 2, \"nbatch\": 0, \"mse\": \"-inf\"}")));
}

TEST(LogCallbacks, fit_writes_through_them) {
  const TemporaryFolder folder;
  const DataBatch all = batch(24);
  NDArrayIter train(all.data[0], all.label[0], {.batch_size = 8});
  Module module(mlp());
  const CaptureLog log;
  module.fit(train, {.batch_end_callback = {log_to_csv(folder / "train.csv", {.period = 2}),
                                            log_to_jsonl(folder / "train.jsonl"),
                                            LogMetricsCallback(folder / "events", "train")},
                     .num_epoch = 2});
  EXPECT_EQ(lines_of(folder / "train.csv").size(), 1u + 4);  // batches 0 and 2 of two epochs
  EXPECT_EQ(lines_of(folder / "train.jsonl").size(), 6u);
  EXPECT_NE(contents((std::filesystem::directory_iterator(folder / "events"))->path())
                .find("train-accuracy"),
            std::string::npos);
}

TEST(EventFile, crc32c_of_the_known_vectors) {
  EXPECT_EQ(crc32c("123456789"), 0xE3069283u);            // the check value of the polynomial
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8A9136AAu);  // RFC 3720, B.4
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62A8AB43u);
}

/// Bit by bit, and masked as TFRecord's description says.
std::uint32_t masked(std::string_view bytes) {
  std::uint32_t crc = 0xFFFFFFFFu;
  for (const char byte : bytes) {
    crc ^= static_cast<std::uint8_t>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ ((crc & 1) != 0 ? 0x82F63B78u : 0);
  }
  crc = ~crc;
  return (crc >> 15 | crc << 17) + 0xA282EAD8u;
}

TEST(EventFile, frames_and_a_scalar_byte_by_byte) {
  const TemporaryFolder folder;
  EventFile file(folder / "run");
  file.add_scalar("loss", 0.5, 300);
  const std::string bytes = contents(file.path());
  const auto word = [&](std::size_t at) {
    std::uint64_t value = 0;
    std::memcpy(&value, bytes.data() + at, 8);
    return value;
  };
  // version: wall_time 9 bytes, "brain.Event:2" 2 + 13
  ASSERT_EQ(word(0), 24u);
  EXPECT_EQ(static_cast<std::uint32_t>(word(8)), masked(bytes.substr(0, 8)));
  EXPECT_EQ(static_cast<std::uint32_t>(word(12 + 24)), masked(bytes.substr(12, 24)));
  EXPECT_EQ(bytes.substr(12 + 9, 15),
            "\x1a\x0d"
            "brain.Event:2");
  // scalar: wall_time 9, step 3 (300 = AC 02), summary 2 + value 2 + (tag 2 + 4, float 5)
  const std::size_t second = 12 + 24 + 4;
  ASSERT_EQ(word(second), 9u + 3 + 2 + 2 + 6 + 5);
  EXPECT_EQ(bytes.substr(second + 12 + 9),
            std::string("\x10\xac\x02\x2a\x0d\x0a\x0b\x0a\x04loss\x15\x00\x00\x00\x3f", 18) +
                bytes.substr(bytes.size() - 4));
}

}  // namespace
}  // namespace symbind
