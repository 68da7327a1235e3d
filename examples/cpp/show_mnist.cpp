// Shows what train_mnist has learned: loads the networks it saved, tests them, draws their learning
// curves in the terminal, and writes a page with the curves and with pictures of each class.
//
//   example_show_mnist result.html mlp lenet         what --save mlp and --save lenet wrote

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <symbind/symbind.h>

#include "fashion_mnist.h"
#include "image_set.h"
#include "result_page.h"

using namespace symbind;

/// The names of the ten classes.
std::vector<std::string> class_names(const std::string& set) {
  if (set == "Fashion-MNIST")
    return {std::begin(FashionMnist::kClasses), std::end(FashionMnist::kClasses)};
  if (set == "shapes")
    return {"disk", "ring",    "square",   "frame",     "triangle",
            "plus", "stripes", "chequers", "half disk", "bar"};
  return {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};
}

/// Reads a log of train_mnist: time, phase, epoch, nbatch, accuracy. The x of a point counts
/// epochs: `at(epoch, nbatch)`.
template <class At>
Curve read_curve(const std::string& path, At at) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(path + " cannot be read: train_mnist --save writes it");
  Curve curve;
  std::string line, cell;
  std::getline(file, line);  // the names of the columns
  while (std::getline(file, line)) {
    std::istringstream cells(line);
    std::vector<double> row;
    while (std::getline(cells, cell, ',')) row.push_back(std::atof(cell.c_str()));
    if (row.size() != 5) throw std::runtime_error(path + ": a line without five columns: " + line);
    if (row[3] > 0) curve.push_back({at(row[2], row[3]), row[4]});  // one batch says too little
  }
  return curve;
}

/// Tests the newest checkpoint of a prefix.
Network test_network(const std::string& prefix, const datasets::ImageSet& set,
                     const Pictures& pictures) {
  constexpr int kBatch = 100;
  const std::vector<int> epochs = checkpoint_epochs(prefix);
  if (epochs.empty()) throw std::runtime_error("there is no checkpoint " + prefix + "-*.params");
  const auto module = Module::load(prefix, epochs.back());
  MNISTIter test({.image = set.test_images,
                  .label = set.test_labels,
                  .batch_size = kBatch,
                  .shuffle = false,
                  .silent = true});
  module->bind(test.provide_data(), test.provide_label(), {.for_training = false});
  const NDArray scores = module->predict(test).front();

  Network network;
  network.name = std::filesystem::path(prefix).filename().string();
  const double batches = static_cast<double>(read_idx(set.train_labels).size()) / kBatch;
  network.train = read_curve(prefix + "-train.csv", [&](double epoch, double nbatch) {
    return epoch + (nbatch + 1) / batches;
  });
  network.test = read_curve(prefix + "-test.csv", [](double epoch, double) { return epoch + 1; });
  const std::vector<float> values = scores.to_vector<float>();
  const std::size_t classes = static_cast<std::size_t>(scores.shape()[1]);
  std::size_t right = 0;
  for (std::size_t i = 0; i < values.size() / classes; ++i) {
    const auto row = values.begin() + static_cast<std::ptrdiff_t>(i * classes);
    const auto best = std::max_element(row, row + static_cast<std::ptrdiff_t>(classes));
    network.predicted.push_back(static_cast<int>(best - row));
    network.probability.push_back(*best);
    right += network.predicted.back() == pictures.labels[i];
  }
  network.accuracy = static_cast<double>(right) / static_cast<double>(network.predicted.size());
  return network;
}

/// The curves of the training as characters: network k is the digit k + 1.
void draw_in_terminal(const std::vector<Network>& networks) {
  constexpr int kColumns = 60, kRows = 12;
  const Frame frame = frame_of(networks);
  std::vector<std::string> grid(kRows, std::string(kColumns, ' '));
  for (std::size_t k = 0; k < networks.size(); ++k)
    for (const auto& [x, y] : networks[k].train) {
      const int column = std::min(static_cast<int>(x / frame.epochs * kColumns), kColumns - 1);
      const int row = static_cast<int>((1 - y) / (1 - frame.lowest) * (kRows - 1) + 0.5);
      grid[static_cast<std::size_t>(row)][static_cast<std::size_t>(column)] =
          static_cast<char>('1' + k);
    }
  std::puts("\naccuracy while training");
  for (int row = 0; row < kRows; ++row)
    std::printf("%5.2f |%s\n", 1 - row * (1 - frame.lowest) / (kRows - 1),
                grid[static_cast<std::size_t>(row)].c_str());
  std::printf("      +%s\n       0%*s\n", std::string(kColumns, '-').c_str(), kColumns - 1,
              (std::to_string(static_cast<int>(frame.epochs)) + " epochs").c_str());
  for (std::size_t k = 0; k < networks.size(); ++k)
    std::printf("       %zu  %s: test accuracy %.4f\n", k + 1, networks[k].name.c_str(),
                networks[k].accuracy);
}

int main(int argc, char** argv) try {
  if (argc < 3) {
    std::fputs("Usage: example_show_mnist PAGE.html PREFIX...\n", stderr);
    return 2;
  }
  const datasets::ImageSet set = find_or_make_images();
  Pictures pictures;
  pictures.set = set.name;
  pictures.classes = class_names(set.name);
  pictures.pixels = read_idx(set.test_images).to_vector<std::uint8_t>();
  pictures.labels = read_idx(set.test_labels).to_vector<std::uint8_t>();
  std::vector<Network> networks;
  for (int i = 2; i < argc; ++i) {
    networks.push_back(test_network(argv[i], set, pictures));
    std::printf("%s: test accuracy over %zu images: %.4f\n", argv[i],
                networks.back().predicted.size(), networks.back().accuracy);
  }
  draw_in_terminal(networks);
  std::ofstream page(argv[1], std::ios::binary);
  page << result_page(pictures, networks);
  page.close();
  if (!page) throw std::runtime_error(std::string(argv[1]) + " cannot be written");
  std::printf("\nwrote %s\n", argv[1]);
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
