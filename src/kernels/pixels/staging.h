// The pixels that the taps of a kernel read, copied so that rows of the packed product follow one
// another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/convolution_sizes.h"

namespace symbind::pixels {

/// Some rows of an output, all channels. There is a copy for each column of taps: with the columns
/// of the data that it reads, and the rows of the data sorted by their remainder to the stride. So
/// the pixels under one tap follow one another, in the order of the outputs, also across the ends
/// of rows. Pixels outside the data are zeros.
class Staging {
 public:
  /// `lanes`: channels of one block. `rows`: of outputs, at most.
  Staging(const ConvolutionSizes& sizes, std::int64_t lanes, std::int64_t rows);

  /// In floats.
  std::size_t size() const { return static_cast<std::size_t>(blocks() * block_step()); }
  std::int64_t blocks() const { return sizes_.in_channels / lanes_; }
  /// Copies what `rows` rows of outputs from `first` on read of one block. `x`: the block's data.
  void stage(const float* x, std::int64_t first, std::int64_t rows, float* block) const;
  /// Between blocks.
  std::int64_t block_step() const { return sizes_.kernel[2] * remainders_ * plane(); }
  /// Where channels [c, c + 8) under tap t begin, for t = 0, c = 0, 8, …; t = 1, …
  std::vector<std::ptrdiff_t> offsets() const;

 private:
  /// One copy of the rows of one remainder.
  std::int64_t plane() const { return (rows_ + more_rows_) * sizes_.out[2] * lanes_; }

  ConvolutionSizes sizes_;
  std::int64_t lanes_ = 1, rows_ = 0;
  std::int64_t remainders_ = 0;  ///< of the taps' rows to the stride
  std::int64_t more_rows_ = 0;   ///< that the last taps read, beyond those of the first
};

}  // namespace symbind::pixels
