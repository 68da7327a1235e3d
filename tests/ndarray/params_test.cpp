// Files in hexadecimal were written by MXNet 1.9.1; the others are spelled out by the format's
// table.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <symbind/ndarray.h>

#include "ndarray/params_bytes.h"

namespace symbind {
namespace {

using Floats = std::vector<float>;

TEST(Params, reads_a_dict_of_mxnet) {
  const NamedArrays file = load_frombuffer(from_hex(
      "120100000000000000000000000000000200000000000000c9fa93f9000000000200000001000000000000000300"
      "0000000000000100000000000000000000000000803f0000004000004040c9fa93f9000000000100000001000000"
      "00000000010000000000000006000000070000000000000002000000000000000500000000000000617267"
      "3a6105000000000000006175783a62"));
  ASSERT_EQ(file.names, (std::vector<std::string>{"arg:a", "aux:b"}));
  EXPECT_EQ(file.arrays[0].shape(), Shape({1, 3}));
  EXPECT_EQ(file.arrays[0].to_vector<float>(), (Floats{1, 2, 3}));
  EXPECT_EQ(file.arrays[1].dtype(), DType::kInt64);
  EXPECT_EQ(file.map().at("aux:b").scalar(), 7);
}

TEST(Params, reads_a_list_of_mxnet) {
  const NamedArrays file = load_frombuffer(from_hex(
      "120100000000000000000000000000000100000000000000c9fa93f9000000000100000002000000000000000100"
      "00000000000002000000003c00c10000000000000000"));
  EXPECT_TRUE(file.names.empty());
  ASSERT_EQ(file.arrays.size(), 1u);
  EXPECT_EQ(file.arrays[0].dtype(), DType::kFloat16);
  EXPECT_EQ(file.arrays[0].to_vector<float>(), (Floats{1, -2.5}));
  EXPECT_THROW(file.map(), Error);
}

TEST(Params, reads_a_scalar_of_mxnet) {
  const NamedArrays file = load_frombuffer(from_hex(
      "120100000000000000000000000000000100000000000000cafa93f9000000000000000001000000000000000000"
      "0000000040400000000000000000"));
  EXPECT_EQ(file.arrays[0].shape(), Shape{});
  EXPECT_EQ(file.arrays[0].scalar(), 3);
}

TEST(Params, reads_row_sparse_as_dense) {
  const NamedArrays file = load_frombuffer(from_hex(kRowSparseFile));
  EXPECT_EQ(file.arrays[0].shape(), Shape({4, 2}));
  EXPECT_EQ(file.arrays[0].to_vector<float>(), (Floats{1, 2, 0, 0, 3, 4, 0, 0}));
}

TEST(Params, reads_csr_as_dense) {
  const NamedArrays file = load_frombuffer(from_hex(kCsrFile));
  EXPECT_EQ(file.arrays[0].to_vector<float>(), (Floats{0, 1, 0, 0, 0, 0, 2, 0, 3}));
}

TEST(Params, reads_v1_and_v0_from_a_gpu) {
  ByteBuilder v1;
  v1.u32(0xF993FAC8).u32(2).i64(1).i64(2).i32(2).i32(3).i32(4).i32(5).i32(6);
  const NDArray a = from_record(v1.bytes);
  EXPECT_EQ(a.shape(), Shape({1, 2}));
  EXPECT_EQ(a.context(), cpu());
  EXPECT_EQ(a.to_vector<int>(), (std::vector<int>{5, 6}));
  ByteBuilder v0;
  v0.u32(1).u32(2).i32(2).i32(0).i32(3).raw("\x07\x09", 2);
  EXPECT_EQ(from_record(v0.bytes).to_vector<int>(), (std::vector<int>{7, 9}));
}

TEST(Params, empty_records_are_no_arrays) {
  ByteBuilder file;
  file.list_head(3).u32(0xF993FAC9).i32(0).i32(0).u32(0xF993FAC8).u32(0).u32(0).u64(0);
  const NamedArrays read = load_frombuffer(file.bytes);
  ASSERT_EQ(read.arrays.size(), 3u);
  for (const NDArray& array : read.arrays) EXPECT_FALSE(array.defined());
  EXPECT_FALSE(from_record(to_record(NDArray())).defined());
}

TEST(Params, bools_are_zero_or_one) {
  ByteBuilder record;
  record.v2_head({3}, 7).raw("\x00\x02\xff", 3);
  const NDArray a = from_record(record.bytes);
  unsigned char raw[3];
  std::memcpy(raw, a.data(), 3);
  EXPECT_EQ(raw[1], 1);
  EXPECT_EQ(raw[2], 1);
}

TEST(Params, our_bytes_are_mxnets) {
  ByteBuilder wanted;
  wanted.v2_head({2}, 2).raw("\x00\x3c\x00\xc1", 4);
  EXPECT_EQ(to_record(NDArray({1, -2.5}, {2}, cpu(4)).astype(DType::kFloat16)), wanted.bytes);
}

class ParamsFile : public testing::Test {
 protected:
  ParamsFile()
      : path_((std::filesystem::temp_directory_path() /
               ("symbind_params_" + std::to_string(::getpid()) + ".params"))
                  .string()) {}
  ~ParamsFile() override { std::filesystem::remove(path_); }
  std::string path_;
};

TEST_F(ParamsFile, every_type_comes_back) {
  NDArrayMap arrays;
  for (int flag = 0; flag <= 12; ++flag)
    arrays["arg:t" + std::to_string(flag)] =
        NDArray({0, 1, 1, 0, 1, 0}, {3, 2}).astype(static_cast<DType>(flag));
  arrays["scalar"] = NDArray::full({}, 4);
  arrays["empty"] = NDArray::zeros({0, 2});
  save(path_, arrays);
  const NDArrayMap read = load(path_).map();
  ASSERT_EQ(read.size(), arrays.size());
  for (const auto& [name, array] : arrays) {
    EXPECT_EQ(read.at(name).dtype(), array.dtype()) << name;
    EXPECT_EQ(read.at(name).shape(), array.shape()) << name;
    EXPECT_EQ(read.at(name).to_vector<float>(), array.to_vector<float>()) << name;
  }
}

TEST_F(ParamsFile, lists_come_back_and_views_are_saved_as_seen) {
  const NDArray a = NDArray::arange(0, 6).reshape({3, 2});
  save(path_, std::vector<NDArray>{a.at(1), a});
  const NamedArrays read = load(path_);
  EXPECT_TRUE(read.names.empty());
  EXPECT_EQ(read.arrays[0].to_vector<float>(), (Floats{2, 3}));
  EXPECT_EQ(read.arrays[1].shape(), Shape({3, 2}));
}

TEST_F(ParamsFile, a_failed_save_keeps_the_old_file) {
  save(path_, std::vector<NDArray>{NDArray::ones({1})});
  const NDArray broken = NDArray::zeros({1});
  EXPECT_THROW(save(path_ + "/no/such/folder", std::vector<NDArray>{broken}), Error);
  EXPECT_EQ(load(path_).arrays[0].scalar(), 1);
}

using BadInputParamsFile = ParamsFile;

TEST_F(BadInputParamsFile, a_png_a_pickle_and_nothing_say_what_they_look_like) {
  const std::pair<std::string, const char*> files[] = {
      {std::string("\x89PNG\r\n\x1a\n") + std::string(40, 'x'), "PNG"},
      {std::string("\x80\x03") + std::string(40, '\x01'), "pickle"},
      {"{\"nodes\": []}                 ", "JSON"},
      {"", "empty"},
  };
  for (const auto& [content, name] : files) {
    std::ofstream(path_, std::ios::binary).write(content.data(), static_cast<long>(content.size()));
    try {
      load(path_);
      FAIL() << name;
    } catch (const Error& error) {
      const std::string text = error.what();
      EXPECT_EQ(error.kind(), ErrorKind::kIo);
      EXPECT_NE(text.find(path_), std::string::npos) << text;
      EXPECT_NE(text.find("at byte"), std::string::npos) << text;
      EXPECT_NE(text.find(name), std::string::npos) << text;
    }
  }
}

TEST_F(BadInputParamsFile, a_missing_file) {
  try {
    load(path_ + ".missing");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kIo);
  }
}

}  // namespace
}  // namespace symbind
