#include <gtest/gtest.h>

#include <symbind/datasets.h>
#include <symbind/io.h>

#include "base/settings.h"
#include "io/files.h"
#include "support/capture_log.h"

namespace symbind {
namespace {

namespace fs = std::filesystem;

std::string labels(const std::string& first) {
  std::string text = {0, 0, 8, 1, 0, 0, 0, static_cast<char>(first.size())};
  for (const char c : first) text += static_cast<char>(c - '0');
  return text;
}

class Datasets : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(root_ + "/mnist");
    fs::create_directories(root_ + "/fashion-mnist");
  }
  void TearDown() override { fs::remove_all(root_); }
  void put(const std::string& folder, const std::string& first_labels) const {
    for (const char* part : {"train", "t10k"}) {
      std::ofstream(root_ + folder + "/" + part + "-images-idx3-ubyte.gz") << "anything";
      std::ofstream(root_ + folder + "/" + part + "-labels-idx1-ubyte") << labels(first_labels);
    }
  }
  std::string root_ = TemporaryFile().path() + "-datasets";
};

TEST_F(Datasets, found_and_identified_by_their_labels) {
  const settings::override_for_test here("SYMBIND_DATA", "/nowhere:" + root_);
  put("/mnist", "50419213");
  put("/fashion-mnist", "90030272");
  const CaptureLog log;
  const datasets::ImageSet first = datasets::find_images();
  EXPECT_EQ(first.name, "MNIST");
  EXPECT_EQ(first.folder, root_ + "/mnist");
  EXPECT_EQ(first.train_images, root_ + "/mnist/train-images-idx3-ubyte.gz");
  EXPECT_EQ(first.test_labels, root_ + "/mnist/t10k-labels-idx1-ubyte");
  EXPECT_EQ(log.lines().back(), "data set MNIST from " + root_ + "/mnist");
  EXPECT_EQ(datasets::find_images("fashion_mnist").folder, root_ + "/fashion-mnist");
  put("", "12345678");
  EXPECT_EQ(datasets::find_images().name, "unknown");
  EXPECT_EQ(datasets::find_images("MNIST").name, "MNIST");
}

TEST_F(Datasets, debians_fashion_mnist) {
  if (!fs::exists("/usr/share/datasets/fashion-mnist")) GTEST_SKIP();
  const datasets::ImageSet set = datasets::find_images("Fashion-MNIST");
  EXPECT_EQ(set.name, "Fashion-MNIST");
  EXPECT_EQ(read_idx(set.test_images).shape(), (Shape{10000, 28, 28}));
}

TEST_F(Datasets, bad_input_says_where_it_looked) {
  const settings::override_for_test here("SYMBIND_DATA", root_);
  put("/fashion-mnist", "90030272");
  fs::remove(root_ + "/fashion-mnist/t10k-labels-idx1-ubyte");
  expect_error(
      ErrorKind::kIo, [] { datasets::find_images("MNIST"); }, "no MNIST", root_ + "/fashion-mnist",
      "data/mnist", "apt install dataset-fashion-mnist", "SYMBIND_DATA");
  expect_error(
      ErrorKind::kName, [] { datasets::find_images("MNITS"); }, "MNITS", "MNIST");
}

}  // namespace
}  // namespace symbind
