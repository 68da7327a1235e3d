// The pictures of train_mnist and show_mnist: MNIST or Fashion-MNIST if the machine has one of
// them, else ten shapes made by formula.
#pragma once

#include <cstdio>
#include <filesystem>

#include <symbind/symbind.h>

inline symbind::datasets::ImageSet find_or_make_images() {
  using namespace symbind;
  try {
    return datasets::find_images();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kIo) throw;
    std::fprintf(stderr, "%s\nThe data set is made by formula: 7,000 pictures of ten shapes.\n",
                 error.what());
  }
  std::filesystem::create_directories("data/shapes");
  return datasets::make_shapes("data/shapes");
}
