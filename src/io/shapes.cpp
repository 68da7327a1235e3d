// A small data set made by formula: grey pictures of ten shapes, for machines that have no other.
//
// Decided here: a shape is a function of a point in its own frame; a picture moves, turns and
// scales that frame and adds noise. The numbers come from a fixed seed, so that every machine makes
// the same files.
#include <symbind/datasets.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <random>

#include <fmt/format.h>
#include <symbind/log.h>

#include "base/files.h"

namespace symbind::datasets {
namespace {

constexpr int kSide = 28, kClasses = 10;

/// Whether the point (u, v) is inside the shape, which reaches from -1 to 1 in both directions.
bool inside(int shape, double u, double v) {
  const double radius = std::hypot(u, v), most = std::max(std::abs(u), std::abs(v));
  const auto stripe = [](double x) { return std::fmod(std::floor((x + 1) * 2.5), 2) == 0; };
  switch (shape) {
    case 0: return radius < 1;                                            // disk
    case 1: return radius < 1 && radius > 0.6;                            // ring
    case 2: return most < 0.85;                                           // square
    case 3: return most < 0.9 && most > 0.55;                             // frame
    case 4: return v < 0.8 && v > 2 * std::abs(u) - 0.9;                  // triangle
    case 5: return most < 1 && std::min(std::abs(u), std::abs(v)) < 0.3;  // plus
    case 6: return most < 0.9 && stripe(u);                               // upright stripes
    case 7: return most < 0.9 && stripe(u) == stripe(v);                  // chequers
    case 8: return radius < 1 && v > 0;                                   // half disk
    default: return std::abs(u) < 0.3 && std::abs(v) < 1;                 // bar
  }
}

class Pictures {
 public:
  explicit Pictures(std::uint32_t seed) : bits_(seed) {}

  /// Appends the pixels of one picture.
  void draw(int shape, std::string& pixels) {
    const double scale = 5 + 5 * uniform(), turn = 0.5 * (uniform() - 0.5);
    const double cx = 14 + 5 * (uniform() - 0.5), cy = 14 + 5 * (uniform() - 0.5);
    const double light = 120 + 110 * uniform(), dark = 40 * uniform();
    for (int y = 0; y < kSide; ++y)
      for (int x = 0; x < kSide; ++x) {
        const double dx = (x - cx) / scale, dy = (y - cy) / scale;
        const double u = dx * std::cos(turn) + dy * std::sin(turn);
        const double v = dy * std::cos(turn) - dx * std::sin(turn);
        const double noise = 60 * (uniform() + uniform() - 1);
        const double value = (inside(shape, u, v) ? light : dark) + noise;
        pixels += static_cast<char>(static_cast<std::uint8_t>(std::clamp(value, 0.0, 255.0)));
      }
  }
  int any_shape() { return std::min(static_cast<int>(uniform() * kClasses), kClasses - 1); }

 private:
  double uniform() { return static_cast<double>(bits_()) * 0x1p-32; }
  std::mt19937 bits_;
};

/// The start of an idx file of bytes.
std::string header(std::initializer_list<std::uint32_t> extents) {
  std::string text = {0, 0, 8, static_cast<char>(extents.size())};
  for (const std::uint32_t extent : extents)
    for (int shift = 24; shift >= 0; shift -= 8) text += static_cast<char>(extent >> shift & 0xFF);
  return text;
}

struct Bytes {
  std::uint32_t count;
  std::string pixels = {}, classes = {};
};

Bytes make(bool train) {
  Pictures pictures(train ? 1 : 2);
  Bytes made{train ? 6000u : 1000u};
  for (std::uint32_t i = 0; i < made.count; ++i) {
    const int shape = pictures.any_shape();
    made.classes += static_cast<char>(shape);
    pictures.draw(shape, made.pixels);
  }
  return made;
}

void write(const std::string& images, const std::string& labels, bool train) {
  const Bytes made = make(train);
  write_file_atomic(images, [&](FileWriter& file) {
    file.write(header({made.count, kSide, kSide}));
    file.write(made.pixels);
  });
  write_file_atomic(labels, [&](FileWriter& file) {
    file.write(header({made.count}));
    file.write(made.classes);
  });
}

NDArray array_of(const std::string& bytes, const Shape& shape) {
  return NDArray::from_vector(std::vector<std::uint8_t>(bytes.begin(), bytes.end()), shape, cpu());
}

}  // namespace

Shapes shapes(bool train) {
  const Bytes made = make(train);
  return {array_of(made.pixels, {made.count, kSide, kSide}), array_of(made.classes, {made.count})};
}

ImageSet make_shapes(const std::string& folder) {
  namespace fs = std::filesystem;
  const auto in_folder = [&](const char* name) { return (fs::path(folder) / name).string(); };
  ImageSet set{.name = "shapes",
               .folder = folder,
               .train_images = in_folder("train-images-idx3-ubyte"),
               .train_labels = in_folder("train-labels-idx1-ubyte"),
               .test_images = in_folder("t10k-images-idx3-ubyte"),
               .test_labels = in_folder("t10k-labels-idx1-ubyte")};
  write(set.train_images, set.train_labels, true);
  write(set.test_images, set.test_labels, false);
  log_info(fmt::format("data set shapes, made by formula, in {}", folder));
  return set;
}

}  // namespace symbind::datasets
