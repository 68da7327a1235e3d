// Fashion-MNIST: 70,000 grey pictures of clothes, 28 by 28, in ten classes; where MNIST is too
// easy.
#pragma once

#include <filesystem>
#include <string>

#include <symbind/io.h>
#include <symbind/symbind.h>

struct FashionMnist {
  /// Where Debian's package dataset-fashion-mnist puts it.
  static constexpr const char* kFolder = "/usr/share/datasets/fashion-mnist";
  static constexpr const char* kClasses[] = {"T-shirt", "trousers",  "pullover", "dress",
                                             "coat",    "sandal",    "shirt",    "sneaker",
                                             "bag",     "ankle boot"};
  static bool is_installed() { return std::filesystem::exists(kFolder); }

  /// `part` is "train" (60,000) or "t10k" (10,000).
  explicit FashionMnist(const std::string& part, const std::string& folder = kFolder)
      : images(symbind::read_idx(folder + "/" + part + "-images-idx3-ubyte.gz")
                   .reshape({-1, 1, 28, 28})),
        labels(symbind::read_idx(folder + "/" + part + "-labels-idx1-ubyte.gz")) {}

  std::int64_t size() const { return labels.size(); }

  symbind::NDArray images;  ///< (count, 1, 28, 28), bytes
  symbind::NDArray labels;  ///< (count,), bytes from 0 to 9
};
