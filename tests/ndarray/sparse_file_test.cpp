// Sparse arrays of files: dense in memory, written back as they were. The files are MXNet 1.9.1's
// (tools/oracle/record_sparse.py).
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include <symbind/detail/storage_type.h>
#include <symbind/log.h>
#include <symbind/model.h>

#include "base/settings.h"
#include "ndarray/params_bytes.h"
#include "support/source_path.h"

namespace symbind {
namespace {

std::string golden(const std::string& name) { return source_path("tests/golden/sparse/" + name); }

std::string bytes_at(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Each test has its file: tests run side by side.
std::string scratch_path() {
  const auto* test = testing::UnitTest::GetInstance()->current_test_info();
  return testing::TempDir() + "/sparse_file_test_" + test->name() + ".params";
}

std::string saved(const NamedArrays& arrays) {
  const std::string path = scratch_path();
  save_in_order(path, arrays);
  return bytes_at(path);
}

TEST(GoldenSparseFile, load_and_save_give_the_same_bytes) {
  const auto dense = nlohmann::json::parse(bytes_at(golden("dense.json")));
  for (const char* name : {"rows", "csr", "empty", "mixed"}) {
    const NamedArrays file = load(golden(std::string(name) + ".params"));
    for (std::size_t i = 0; i < file.arrays.size(); ++i) {
      const auto& want = dense[name][file.names.empty() ? std::to_string(i) : file.names[i]];
      EXPECT_EQ(storage_type(file.arrays[i]), want["stype"].get<std::string>()) << name << i;
      EXPECT_EQ(file.arrays[i].to_vector<double>(), want["values"].get<std::vector<double>>());
    }
    EXPECT_EQ(saved(file), bytes_at(golden(std::string(name) + ".params"))) << name;
    for (const NDArray& array : file.arrays)
      EXPECT_EQ(storage_type(from_record(to_record(array))), storage_type(array));
  }
}

TEST(SparseFile, after_a_write_what_is_not_zero_is_stored) {
  const NDArray array = load(golden("rows.params")).map().at("arg:embedding");
  const std::string before = saved({.names = {}, .arrays = {array}});
  const NDArray same = array.copy();
  EXPECT_EQ(saved({.names = {}, .arrays = {same}}), before) << "a copy is stored as its source";
  NDArray row = array.slice(5, 6);
  row.set(3);
  NDArray first = array.slice(0, 1);
  first.set(0);
  const std::string path = scratch_path();
  save(path, std::vector<NDArray>{array});
  // Rows 5 and 6, of values 3 3 and 5 6: list head, then the record by the format's table.
  ByteBuilder want;
  want.list_head(1).u32(0xF993FAC9).i32(1).i32(2).i64(2).i64(2).i32(2).i64(7).i64(2);
  want.i32(1).i32(0).i32(0).i32(6).i32(1).i64(2);
  for (const float value : {3.F, 3.F, 5.F, 6.F}) want.put(value);
  want.i64(5).i64(6).u64(0);
  const std::string got = bytes_at(path);
  EXPECT_EQ(got, std::string(reinterpret_cast<const char*>(want.bytes.data()), want.bytes.size()));
  EXPECT_EQ(saved({.names = {}, .arrays = {same}}), before) << "and the copy is untouched";
}

TEST(SparseFile, views_are_dense_and_the_type_can_be_set) {
  const NDArray loaded = load(golden("mixed.params")).arrays[1];
  EXPECT_EQ(storage_type(loaded), "row_sparse");
  EXPECT_EQ(storage_type(loaded.slice(0, 2)), "default");
  EXPECT_EQ(storage_type(loaded.reshape(Shape{6})), "default");
  EXPECT_EQ(storage_type(loaded.astype(DType::kFloat64)), "default");
  set_storage_type(loaded, "default");
  EXPECT_EQ(storage_type(loaded), "default");
  const NDArray made({0, 0, 7, 0, 0, 0}, {2, 3});
  set_storage_type(made, "csr");
  const std::string bytes = saved({{}, {made}});
  const NamedArrays again = load_frombuffer(std::as_bytes(std::span(bytes)));
  EXPECT_EQ(storage_type(again.arrays[0]), "csr");
  EXPECT_EQ(again.arrays[0].to_vector<float>(), made.to_vector<float>());
  EXPECT_THROW(set_storage_type(NDArray({1, 2}, {2}), "csr"), Error);
  EXPECT_THROW(set_storage_type(made, "rows"), Error);
}

TEST(SparseFile, the_note_goes_with_the_memory) {
  for (int i = 0; i < 300; ++i) {  // memory is used again: a note must not be found there
    set_storage_type(NDArray::zeros({4, 4}), "row_sparse");
    EXPECT_EQ(storage_type(NDArray::zeros({4, 4})), "default");
  }
}

// ---- Limits -------------------------------------------------------------------------------------

std::string refusal(const std::vector<std::byte>& bytes) {
  set_log_sink([](LogLevel, std::string_view) {});
  std::string text = "it was read";
  try {
    load_frombuffer(bytes);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kIo);
    text = error.what();
  }
  set_log_sink({});
  return text;
}

/// `count` row_sparse arrays of `rows` float rows without a stored one.
std::vector<std::byte> empty_rows(int count, std::int64_t rows = 1 << 20) {
  ByteBuilder file;
  file.list_head(static_cast<std::uint64_t>(count));
  for (int i = 0; i < count; ++i)
    file.u32(0xF993FAC9)
        .i32(1)
        .i32(1)
        .i64(0)
        .i32(1)
        .i64(rows)
        .i32(1)
        .i32(0)
        .i32(0)
        .i32(6)
        .i32(1)
        .i64(0);
  return file.u64(0).bytes;
}

TEST(BadInputSparseFile, the_arrays_of_one_file_count_together) {
  const settings::override_for_test lowered("SYMBIND_LIMIT_SPARSE_BYTES", "10000000");
  EXPECT_EQ(refusal(empty_rows(2)), "it was read");
  const std::string text = refusal(empty_rows(3));
  EXPECT_NE(text.find("12582912 bytes of sparse arrays made dense; the limit is 10000000"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("in array 3 of 3"), std::string::npos) << text;
}

TEST(BadInputSparseFile, a_few_bytes_do_not_fill_the_memory) {
  EXPECT_NE(
      refusal(empty_rows(1, (1 << 26) + 1)).find("more than 256 MiB and more than 4096 times"),
      std::string::npos);
}

TEST(BadInputSparseFile, arrays_and_names_are_counted) {
  ByteBuilder three, named;
  three.list_head(3);
  for (int i = 0; i < 3; ++i) three.v2_head({1}, 3).raw("\x05", 1);
  three.u64(0);
  named.list_head(1).v2_head({1}, 3).raw("\x05", 1).u64(1).name(std::string(50, 'n'));
  EXPECT_EQ(refusal(three.bytes) + refusal(named.bytes), "it was readit was read");
  const settings::override_for_test arrays("SYMBIND_LIMIT_FILE_ARRAYS", "2");
  const settings::override_for_test names("SYMBIND_LIMIT_NAME_BYTES", "49");
  EXPECT_NE(refusal(three.bytes).find("3 arrays; the limit is 2"), std::string::npos);
  EXPECT_NE(refusal(named.bytes).find("50 bytes in a name"), std::string::npos);
}

TEST(BadInputSparseFile, an_index_of_floats_or_rows_that_leave_values_out) {
  std::vector<std::byte> floats = from_hex(kRowSparseFile);
  floats[24 + 4 + 4 + 20 + 20 + 8 + 4] = std::byte{0};
  EXPECT_NE(refusal(floats).find("a sparse index of dtype float32"), std::string::npos);
  std::vector<std::byte> starts = from_hex(kCsrFile);
  starts[starts.size() - 17 - 7 * 8] = std::byte{1};
  EXPECT_NE(refusal(starts).find("csr rows run from 1 to 3 and there are 3 values"),
            std::string::npos);
}

}  // namespace
}  // namespace symbind
