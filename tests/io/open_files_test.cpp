// Iterators over text keep their file open, as MXNet 1.9.1 does (checked there): what was opened is
// read in every epoch, even if the file was deleted or replaced meanwhile.

#include <gtest/gtest.h>

#include <symbind/io.h>

#include "io/files.h"

namespace symbind {
namespace {

namespace fs = std::filesystem;
using Floats = std::vector<float>;

struct Format {
  const char* iter;
  const char* key;
  const char* text;   // rows (1, 2), (3, 4), (5, 6)
  const char* other;  // rows (9, 9), …
};

constexpr Format kFormats[] = {
    {"CSVIter", "data_csv", "1,2\n3,4\n5,6\n", "9,9\n9,9\n9,9\n"},
    {"LibSVMIter", "data_libsvm", "0 0:1 1:2\n0 0:3 1:4\n0 0:5 1:6\n",
     "0 0:9 1:9\n0 0:9 1:9\n0 0:9 1:9\n"},
};

std::shared_ptr<DataIter> open(const Format& format, const std::string& path) {
  return create_iter(format.iter,
                     {{format.key, path}, {"data_shape", "(2,)"}, {"batch_size", "3"}});
}

Floats rows(DataIter& iter) {
  Floats all;
  DataBatch batch;
  while (iter.next(batch)) {
    const Floats values = batch.data[0].to_vector<float>();
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

TEST(OpenFiles, a_deleted_file_is_read_in_every_epoch) {
  for (const Format& format : kFormats) {
    const TemporaryFile file(format.text);
    const auto iter = open(format, file.path());
    fs::remove(file.path());
    for (int epoch = 0; epoch < 3; ++epoch, iter->reset())
      EXPECT_EQ(rows(*iter), (Floats{1, 2, 3, 4, 5, 6})) << format.iter << " epoch " << epoch;
  }
}

TEST(OpenFiles, a_replaced_file_is_read_as_it_was) {
  for (const Format& format : kFormats) {
    const TemporaryFile file(format.text), other(format.other);
    const auto iter = open(format, file.path());
    EXPECT_EQ(rows(*iter), (Floats{1, 2, 3, 4, 5, 6})) << format.iter;
    fs::rename(other.path(), file.path());
    iter->reset();
    EXPECT_EQ(rows(*iter), (Floats{1, 2, 3, 4, 5, 6})) << format.iter;
    EXPECT_EQ(rows(*open(format, file.path())), (Floats{9, 9, 9, 9, 9, 9})) << format.iter;
  }
}

TEST(OpenFiles, labels_too) {
  const TemporaryFile data("1\n2\n3\n"), labels("4\n5\n6\n");
  CSVIter iter(
      {.data_csv = data.path(), .data_shape = {1}, .label_csv = labels.path(), .batch_size = 3});
  for (const TemporaryFile* file : {&data, &labels}) fs::remove(file->path());
  DataBatch batch;
  for (int epoch = 0; epoch < 2; ++epoch, iter.reset()) {
    ASSERT_TRUE(iter.next(batch));
    EXPECT_EQ(batch.label[0].to_vector<float>(), (Floats{4, 5, 6}));
    EXPECT_FALSE(iter.next(batch));
  }
}

// Of several files one is open at a time, in MXNet too.
TEST(OpenFiles, of_several_files_the_others_are_opened_again) {
  const TemporaryFile a("1\n2\n"), b("3\n4\n");
  CSVIter iter({.data_csv = a.path() + ";" + b.path(), .data_shape = {1}, .batch_size = 2});
  EXPECT_EQ(rows(iter), (Floats{1, 2, 3, 4}));
  iter.reset();
  EXPECT_EQ(rows(iter), (Floats{1, 2, 3, 4}));
  fs::remove(a.path());
  iter.reset();
  expect_error(
      ErrorKind::kIo, [&] { rows(iter); }, a.path(), "No such file");
}

}  // namespace
}  // namespace symbind
