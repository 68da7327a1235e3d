#pragma once
// Data sets that are on this machine, and one made by formula. Nothing is downloaded.

#include <string>
#include <string_view>
#include <vector>

#include <symbind/ndarray.h>

namespace symbind::datasets {

/// The four files of MNIST or of Fashion-MNIST, plain or gzipped, as MNISTIter and read_idx take
/// them.
struct ImageSet {
  /// "MNIST" or "Fashion-MNIST", recognised by the labels; "unknown" for another set in this
  /// format.
  std::string name;
  std::string folder;
  std::string train_images, train_labels, test_images, test_labels;
};

/// The folders that are searched, in order: those of SYMBIND_DATA, data/ in the working folder,
/// where Debian's package dataset-fashion-mnist puts its files; each with its subfolders mnist and
/// fashion-mnist.
std::vector<std::string> folders();

/// The first set found; `name` ("MNIST", "Fashion-MNIST", case and punctuation are ignored) selects
/// one. Logs its name and path. An Error kIo lists the folders searched and says how to get a set.
ImageSet find_images(std::string_view name = "");

/// A small set made by formula: grey pictures of ten shapes, as bytes of 28 x 28 pixels, 6,000 to
/// train or 1,000 to test. Every machine makes the same.
struct Shapes {
  NDArray images, labels;
};
Shapes shapes(bool train);
/// Writes it in MNIST's form into `folder`, which exists.
ImageSet make_shapes(const std::string& folder);

}  // namespace symbind::datasets
