// The loops of batch normalisation over a part of a tensor.
//
// A group is 8 or 16 numbers that are neighbours in memory: as many channels of one position, or 16
// positions of one channel. The loops treat both alike: every number of a group has its own sums
// and its own parameters, and the caller adds up the sums of one channel.
#pragma once

#include <cstdint>

#include "kernels/batch_norm_sizes.h"
#include "kernels/vector/targets.h"

namespace symbind::batch_norm {

/// The numbers of the largest group.
inline constexpr std::int64_t kMost = 16;

/// Steps count numbers; those of the mask, which has one bit per number, count bytes.
struct Part {
  std::int64_t rows = 0, row_step = 0, mask_row_step = 0;
  std::int64_t length = 0, step = 0;  ///< of a row: groups, and from one to the next
  std::int64_t rest = 0;              ///< numbers of one more, incomplete group of each row
};

struct alignas(64) Parameters {
  float at[kMost];
};

/// y = relu((x - mean) · scale + shift + add)
struct Normalization {
  Parameters mean, scale, shift;
  NormRelu relu = NormRelu::kNone;
  const float *x = nullptr, *add = nullptr;  ///< `add` may be null, or y
  float* y = nullptr;
  std::uint8_t* mask = nullptr;  ///< of what relu kept; may be null
  bool stream = false;           ///< y is aligned, and not written to the caches
};

/// The gradient that arrives: (first + second), where the mask is set.
struct Heads {
  const float *first = nullptr, *second = nullptr;  ///< `second` may be null
  const std::uint8_t* mask = nullptr;               ///< may be null
  float* total = nullptr;  ///< receives it; may be null, `first` or `second`
};

/// dx = (dz - a - (x - mean) · b) · scale, or without x, dz · scale
struct Gradient {
  Parameters mean, a, b, scale;
  const float *dz = nullptr, *x = nullptr;
  const std::uint8_t* mask = nullptr;  ///< of dz; may be null
  float* dx = nullptr;                 ///< may be dz or x
  bool stream = false;
};

struct Loops {
  void (*sum)(const Part&, const float* x, float* sums);
  /// Sums of x - mean and of its squares.
  void (*squares)(const Part&, const float* x, const Parameters& mean, float* sums, float* squares);
  void (*normalize)(const Part&, const Normalization&);
  /// Sums of the gradient dz that arrives, and of dz · (x - mean).
  void (*head_sums)(const Part&, const Heads&, const float* x, const Parameters& mean, float* sums,
                    float* products);
  void (*gradient)(const Part&, const Gradient&);
};

struct Table {
  Loops of_8, of_16;
};
const ByIsa<Table>& loops();

}  // namespace symbind::batch_norm
