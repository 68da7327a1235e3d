#pragma once
// SoftmaxOutput on the GPU (softmax_output.cu). Launchers return CUDA's status.

#include <cstdint>

#include "kernels/cuda/number.h"

namespace symbind::cuda {

/// The data as (batch, classes, positions); a row is one batch and position.
struct SoftmaxGrid {
  std::int64_t batch = 0, classes = 0, positions = 0;
};

struct HardLabelGradient {
  double scale = 1;       ///< of the whole gradient
  bool by_valid = false;  ///< divide by the number of labels that are not `ignore`
  std::int64_t labels = 0;
  double smooth_alpha = 0;
  int ignore = -1;
  bool use_ignore = false;
  bool times_output = false;
};

int softmax_rows(void* stream, Number number, const void* x, void* p, const SoftmaxGrid& grid);
/// `workspace`: 8 bytes, needed with by_valid.
int hard_label_gradient(void* stream, Number number, const void* p, const void* label, void* dx,
                        const SoftmaxGrid& grid, const HardLabelGradient& how, void* workspace);
/// dx = scale · (p - label), times p with times_output.
int soft_label_gradient(void* stream, Number number, const void* p, const void* label, void* dx,
                        std::int64_t n, double scale, bool times_output);

}  // namespace symbind::cuda
