// The data set made by formula.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include <symbind/datasets.h>
#include <symbind/error.h>
#include <symbind/io.h>

#include "base/files.h"
#include "io/files.h"

namespace symbind {
namespace {

namespace fs = std::filesystem;
using Picture = std::array<double, 28 * 28>;

class Shapes : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }
  std::string folder_ = TemporaryFile().path() + "-shapes";
};

TEST_F(Shapes, both_parts_have_all_ten_classes_about_equally_often) {
  const datasets::ImageSet set = datasets::make_shapes(folder_);
  EXPECT_EQ(read_idx(set.train_images).shape(), (Shape{6000, 28, 28}));
  EXPECT_EQ(read_idx(set.test_images).shape(), (Shape{1000, 28, 28}));
  for (const std::string& file : {set.train_labels, set.test_labels}) {
    const std::vector<int> labels = read_idx(file).to_vector<int>();
    for (int c = 0; c < 10; ++c) {
      const auto share =
          static_cast<double>(std::ranges::count(labels, c)) / static_cast<double>(labels.size());
      EXPECT_NEAR(share, 0.1, 0.03) << file << " class " << c;
    }
  }
}

TEST_F(Shapes, every_run_makes_the_same_files) {
  const datasets::ImageSet set = datasets::make_shapes(folder_);
  const auto first = read_file(set.train_images), labels = read_file(set.test_labels);
  datasets::make_shapes(folder_);
  EXPECT_EQ(read_file(set.train_images), first);
  EXPECT_EQ(read_file(set.test_labels), labels);
}

// The nearest mean picture is right for two in three, so the classes can be learned; a guess is
// right for one in ten.
TEST_F(Shapes, the_classes_differ) {
  const datasets::ImageSet set = datasets::make_shapes(folder_);
  const auto pictures = [](const std::string& file) {
    return read_idx(file).astype(DType::kFloat32).to_vector<float>();
  };
  const std::vector<float> train = pictures(set.train_images), test = pictures(set.test_images);
  const std::vector<int> train_labels = read_idx(set.train_labels).to_vector<int>(),
                         test_labels = read_idx(set.test_labels).to_vector<int>();
  std::array<Picture, 10> means{};
  std::array<double, 10> counts{};
  for (std::size_t i = 0; i < train_labels.size(); ++i) {
    const auto c = static_cast<std::size_t>(train_labels[i]);
    ++counts[c];
    for (std::size_t p = 0; p < 784; ++p) means[c][p] += train[i * 784 + p];
  }
  int right = 0;
  for (std::size_t i = 0; i < test_labels.size(); ++i) {
    std::array<double, 10> distance{};
    for (std::size_t c = 0; c < 10; ++c)
      for (std::size_t p = 0; p < 784; ++p) {
        const double d = test[i * 784 + p] - means[c][p] / counts[c];
        distance[c] += d * d;
      }
    const auto nearest = std::ranges::min_element(distance) - distance.begin();
    right += nearest == test_labels[i] ? 1 : 0;
  }
  EXPECT_GT(right, 550);
}

TEST_F(Shapes, a_folder_that_is_not_there_is_an_error) {
  try {
    datasets::make_shapes(folder_ + "/absent");
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::kIo);
    EXPECT_NE(std::string(e.what()).find("absent"), std::string::npos);
  }
}

}  // namespace
}  // namespace symbind
