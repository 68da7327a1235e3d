// A convolution by the packed product. Its rows are pixels, its columns are filters. A 1×1 kernel
// reads the pixels where they are, a larger one staged copies of them.
#pragma once

#include <symbind/kernel.h>

#include <optional>
#include <vector>

#include "kernels/convolution_sizes.h"
#include "kernels/fused_layer.h"
#include "kernels/packed/product.h"
#include "kernels/pixels/staging.h"

namespace symbind::pixels {

/// Any number of threads may run one object at once.
class Forward {
 public:
  /// `x`: blocked, or channels last; for kernels larger than 1×1 in blocks of at least 8 channels
  /// and one vector. `y`: blocks of one vector, or channels last. `threads` changes no bit.
  Forward(const ConvolutionSizes& sizes, Layout x, Layout y, int threads, Isa isa = cpu_isa());
  /// Blocks of one vector, if the channels form whole ones, else channels last.
  static Layout blocks_or_last(std::int64_t channels, Isa isa = cpu_isa());

  /// Of the packed filters, in floats.
  std::size_t weight_size() const;
  /// `w`: (out_channels, in_channels, taps).
  void pack(const float* w, float* packed) const;
  /// Of the scratch memory, in floats.
  std::size_t scratch_size() const;
  /// Of the copies of pixels that one part reads, in floats.
  std::size_t staged_size() const { return staging_ ? staging_->size() : 0; }
  void operator()(const float* x, const LayerOutput& output, float* scratch) const;

 private:
  struct Part;
  void run(const Part& part, const float* x, const LayerOutput& output, bool stream) const;
  /// Whether the output is written past the caches.
  bool streams(const float* y) const;
  /// Sets what the product of this panel and the values [k, end) of the depth fetches.
  void fetch_ahead(const Part& part, std::int64_t panel, std::int64_t k, std::int64_t end,
                   packed::Product& product) const;
  /// Chunks of staged pixels are whole rows.
  std::int64_t first_pixel(std::int64_t chunk) const {
    return staging_ ? first_row(chunk) * sizes_.out[2] : chunk * positions_ / chunks_;
  }
  std::int64_t first_row(std::int64_t chunk) const { return chunk * sizes_.out[1] / chunks_; }
  /// Copies one block of channels for a chunk of an image.
  void stage(std::int64_t image, std::int64_t chunk, std::int64_t block, const float* x,
             float* memory) const;
  /// Whether the threads that share a chunk copy its pixels together, before all products.
  bool stages_first() const { return staging_ && column_groups_ > 1; }
  /// From one block of input channels to the next, where pixels follow one another.
  std::int64_t x_block() const { return products_.lanes * ConvolutionSizes::product(sizes_.in); }
  /// Where the pixel of the data under a position of the output begins.
  std::ptrdiff_t pixel(std::int64_t position) const;
  /// Where the packed filters of a panel begin, for the values from k on.
  std::int64_t filters(std::int64_t panel, std::int64_t k) const {
    return panel * panel_width() * depth_ + k * vectors(panel) * products_.lanes;
  }
  /// Vectors of filters in a panel.
  std::int64_t vectors(std::int64_t panel) const;
  std::int64_t panel_width() const { return 2 * products_.lanes; }
  std::int64_t panels() const { return (sizes_.out_channels + panel_width() - 1) / panel_width(); }

  ConvolutionSizes sizes_;
  const packed::Products& products_;
  std::int64_t x_pixel_, x_image_, y_pixel_, y_vector_, y_image_;  ///< steps in memory
  std::int64_t positions_;                                         ///< of one image of the output
  std::int64_t depth_, round_;           ///< input channels · taps; of one round
  std::vector<std::ptrdiff_t> offsets_;  ///< of blocks of the depth
  bool pixels_follow_;                   ///< as rows of the product
  std::int64_t chunks_;                  ///< of an image
  std::int64_t column_groups_ = 1;
  std::int64_t threads_;
  std::optional<Staging> staging_;
  /// A thread reads its filters once, at most two threads the same ones, and they are large.
  bool filters_once_;
};

}  // namespace symbind::pixels
