// A convolution with a 1×1 kernel by the packed product. Its rows are pixels, read where they are;
// its columns are filters.
#pragma once

#include <symbind/kernel.h>

#include <vector>

#include "kernels/convolution_sizes.h"
#include "kernels/fused_layer.h"
#include "kernels/packed/product.h"

namespace symbind::pointwise {

/// Any number of threads may run one object at once.
class Forward {
 public:
  /// `x`: blocked, or channels last. `y`: blocks of one vector, or channels last. `threads` changes
  /// no bit.
  Forward(const ConvolutionSizes& sizes, Layout x, Layout y, int threads, Isa isa = cpu_isa());
  /// Blocks of one vector, if the channels form whole ones, else channels last.
  static Layout blocks_or_last(std::int64_t channels, Isa isa = cpu_isa());

  /// Of the packed filters, in floats.
  std::size_t weight_size() const;
  /// `w`: (out_channels, in_channels).
  void pack(const float* w, float* packed) const;
  void operator()(const float* x, const LayerOutput& output) const;

 private:
  struct Part;
  void run(const Part& part, const float* x, const LayerOutput& output, bool stream) const;
  /// Whether the output is written past the caches.
  bool streams(const float* y) const;
  /// Sets what the product of this panel and the channels [k, end) fetches.
  void fetch_ahead(const Part& part, std::int64_t panel, std::int64_t k, std::int64_t end,
                   packed::Product& product) const;
  std::int64_t first_pixel(std::int64_t chunk) const { return chunk * positions_ / chunks_; }
  /// From one block of input channels to the next, where pixels follow one another.
  std::int64_t x_block() const { return products_.lanes * ConvolutionSizes::product(sizes_.in); }
  /// Where the pixel of the data under a position of the output begins.
  std::ptrdiff_t pixel(std::int64_t position) const;
  /// Vectors of filters in a panel.
  std::int64_t vectors(std::int64_t panel) const;
  std::int64_t panel_width() const { return 2 * products_.lanes; }
  std::int64_t panels() const { return (sizes_.out_channels + panel_width() - 1) / panel_width(); }

  ConvolutionSizes sizes_;
  const packed::Products& products_;
  std::int64_t x_pixel_, x_image_, y_pixel_, y_vector_, y_image_;  ///< steps in memory
  std::int64_t positions_;                                         ///< of one image of the output
  std::vector<std::ptrdiff_t> offsets_;                            ///< of blocks of input channels
  bool pixels_follow_;                                             ///< as rows of the product
  std::int64_t chunks_;                                            ///< of an image
  std::int64_t column_groups_ = 1;
  std::int64_t threads_;
};

}  // namespace symbind::pointwise
