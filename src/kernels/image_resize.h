#pragma once
// Resampling of images to another size, with OpenCV's numbers (cv::resize of release 3.4, which
// MXNet uses).
//
// An image is height × width × channels of uint8, float or double.

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace symbind {

/// The codes scripts give.
enum class Interpolation : std::int8_t { kNearest, kLinear, kCubic, kArea, kLanczos };

struct ImageSize {
  std::int64_t height = 0, width = 0;
  bool operator==(const ImageSize&) const = default;
};

/// One source pixel's share in one target pixel, along an axis.
struct ResizeShare {
  std::int64_t to, from;
  float weight;
};

/// Source pixels `first`, `first` + 1, … and their weights in one target pixel, along an axis.
struct ResizeTaps {
  std::int64_t first = 0;
  std::array<float, 8> weight{};
};

/// Source and target size, and the interpolation.
struct ResizeSizes {
  enum class Way : std::int8_t { kCopy, kNearest, kBlocks, kShares, kTaps };

  ResizeSizes(ImageSize from, ImageSize to, std::int64_t channels, Interpolation how);
  /// Bytes that resize_image needs as its workspace.
  std::size_t workspace(std::size_t element_bytes) const;

  ImageSize from, to;
  std::int64_t channels;
  Interpolation how;  ///< kArea for a linear shrink to one half
  Way way = Way::kTaps;
  int taps = 2;  ///< kTaps: how many
};

/// With tables for all positions of the new image, made once.
struct ResizePlan : ResizeSizes {
  explicit ResizePlan(const ResizeSizes& sizes);

  std::vector<std::int64_t> rows, columns;        ///< kNearest: the source of each target
  std::vector<ResizeTaps> across, down;           ///< kTaps: of each target
  std::vector<ResizeShare> sharing, shared_rows;  ///< kShares: along the width, along the height
};

/// Resamples one image. T is std::uint8_t, float or double.
template <class T>
void resize_image(const ResizePlan& plan, const T* src, T* dst, void* workspace);

}  // namespace symbind
