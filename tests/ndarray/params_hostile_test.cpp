// Malicious files: each gives an Error kIo quickly, and the next file loads.
#include <gtest/gtest.h>

#include <limits>

#include <symbind/log.h>
#include <symbind/ndarray.h>

#include "ndarray/params_bytes.h"

namespace symbind {
namespace {

std::string refusal(const std::vector<std::byte>& bytes) {
  try {
    load_frombuffer(bytes);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kIo) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "the file was read";
  return "";
}

void expect_refused(const ByteBuilder& file, const char* because) {
  const std::string text = refusal(file.bytes);
  EXPECT_NE(text.find(because), std::string::npos) << text;
  EXPECT_NE(text.find("at byte"), std::string::npos) << text;
  EXPECT_NE(text.find("damaged NDArray file"), std::string::npos) << text;
  ByteBuilder good;
  good.list_head(1).v2_head({1}, 3).raw("\x05", 1).u64(0);
  EXPECT_EQ(load_frombuffer(good.bytes).arrays[0].scalar(), 5);
}

/// Thousands of files would fill the log.
struct Quiet {
  Quiet() {
    set_log_sink([](LogLevel, std::string_view) {});
  }
  ~Quiet() { set_log_sink({}); }
};

void truncate_everywhere(const std::vector<std::byte>& whole) {
  const Quiet quiet;
  load_frombuffer(whole);
  for (std::size_t size = 0; size < whole.size(); ++size)
    refusal({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)});
}

TEST(BadInputParams, truncated_at_every_byte_v2) {
  ByteBuilder file;
  file.list_head(2).v2_head({1, 2}, 0).u64(7).v2_head({1}, 6).i64(9);
  file.u64(2).name("arg:weight").name("aux:mean");
  truncate_everywhere(file.bytes);
}

TEST(BadInputParams, truncated_at_every_byte_v0_and_v1) {
  ByteBuilder file;
  file.list_head(2).u32(1).u32(2).i32(1).i32(0).i32(4).u64(7);
  file.u32(0xF993FAC8).u32(1).i64(1).i32(1).i32(0).i32(0).u32(1);
  file.u64(2).name("a").name("b");
  truncate_everywhere(file.bytes);
}

TEST(BadInputParams, truncated_at_every_byte_sparse) {
  truncate_everywhere(from_hex(kRowSparseFile));
  truncate_everywhere(from_hex(kCsrFile));
}

TEST(BadInputParams, every_bit_flipped_never_crashes) {
  const Quiet quiet;
  for (const std::string_view hex : {kRowSparseFile, kCsrFile}) {
    const std::vector<std::byte> whole = from_hex(hex);
    for (std::size_t bit = 0; bit < whole.size() * 8; ++bit) {
      std::vector<std::byte> bytes = whole;
      bytes[bit / 8] ^= static_cast<std::byte>(1u << (bit % 8));
      try {
        load_frombuffer(bytes);
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::kIo) << error.what();
      }
    }
  }
}

TEST(BadInputParams, huge_count_of_arrays) {
  ByteBuilder file;
  expect_refused(file.list_head(std::uint64_t{1} << 60).v2_head({1}, 3).raw("x", 1).u64(0),
                 "1152921504606846976 arrays");
}

TEST(BadInputParams, huge_count_of_names) {
  ByteBuilder file;
  expect_refused(file.list_head(0).u64(std::numeric_limits<std::uint64_t>::max()),
                 "names for 0 arrays");
}

TEST(BadInputParams, two_to_the_31_axes) {
  ByteBuilder negative, large, v0;
  expect_refused(negative.list_head(1).u32(0xF993FAC9).i32(0).u32(1u << 31).u64(0).u64(0), "axes");
  expect_refused(large.list_head(1).u32(0xF993FAC9).i32(0).i32(0x7fffffff).u64(0).u64(0), "axes");
  expect_refused(v0.list_head(1).u32(1u << 31).u64(0).u64(0),
                 "is not the start of an array record");
}

TEST(BadInputParams, overflowing_product) {
  ByteBuilder elements, bytes;
  const std::int64_t large = std::int64_t{1} << 32;
  expect_refused(elements.list_head(1).v2_head({large, large}, 0).u64(0), "impossibly large");
  expect_refused(bytes.list_head(1).v2_head({std::int64_t{1} << 62}, 0).u64(0), "impossibly large");
}

TEST(BadInputParams, more_data_than_bytes) {
  ByteBuilder file;
  expect_refused(file.list_head(1).v2_head({std::int64_t{1} << 40}, 0).u64(0), "bytes, 8 are left");
}

TEST(BadInputParams, negative_extent) {
  ByteBuilder file;
  expect_refused(file.list_head(1).v2_head({-1}, 0).u64(0), "extent -1");
}

TEST(BadInputParams, duplicate_names) {
  ByteBuilder file;
  file.list_head(2).v2_head({1}, 3).raw("x", 1).v2_head({1}, 3).raw("y", 1);
  expect_refused(file.u64(2).name("arg:w").name("arg:w"), "'arg:w' occurs twice");
}

TEST(BadInputParams, name_of_2_to_40_bytes) {
  ByteBuilder file;
  file.list_head(1).v2_head({1}, 3).raw("x", 1).u64(1).u64(std::uint64_t{1} << 40).raw("name", 4);
  expect_refused(file, "1099511627776");
}

TEST(BadInputParams, fewer_names_than_arrays) {
  ByteBuilder file;
  file.list_head(2).v2_head({1}, 3).raw("x", 1).v2_head({1}, 3).raw("y", 1);
  expect_refused(file.u64(1).name("w"), "1 names for 2 arrays");
}

TEST(BadInputParams, unknown_dtype_device_and_storage) {
  ByteBuilder dtype, device, storage;
  expect_refused(dtype.list_head(1).v2_head({1}, 13).u64(0).u64(0), "dtype flag 13");
  device.list_head(1).u32(0xF993FAC9).i32(0).i32(1).i64(1).i32(77).i32(0).i32(0).u64(0).u64(0);
  expect_refused(device, "device type 77");
  expect_refused(storage.list_head(1).u32(0xF993FAC9).i32(9).u64(0).u64(0), "storage type 9");
}

TEST(BadInputParams, sparse_index_out_of_bounds) {
  std::vector<std::byte> rows = from_hex(kRowSparseFile);
  // The second row index, 2, is the last word before the names.
  rows[rows.size() - 25] = std::byte{4};
  EXPECT_NE(refusal(rows).find("sparse index 4 is out of bounds for size 4"), std::string::npos);
}

TEST(BadInputParams, sparse_that_would_fill_the_memory) {
  ByteBuilder file;
  const std::int64_t rows = std::int64_t{1} << 45;
  file.list_head(1).u32(0xF993FAC9).i32(1).i32(1).i64(0).i32(1).i64(rows).i32(1).i32(0).i32(0);
  file.i32(6).i32(1).i64(0).u64(0);
  expect_refused(file, "when dense");
}

TEST(BadInputParams, single_record_too_long_or_too_short) {
  const std::vector<std::byte> record = to_record(NDArray({1, 2}, {2}));
  for (std::size_t size = 0; size < record.size(); ++size)
    EXPECT_THROW(from_record(std::span(record).first(size)), Error);
  std::vector<std::byte> longer = record;
  longer.push_back(std::byte{0});
  EXPECT_THROW(from_record(longer), Error);
}

}  // namespace
}  // namespace symbind
