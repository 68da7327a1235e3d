// Products of small float32 matrices, for which a library's preparations take longer than the
// multiplications.
#pragma once

#include "kernels/gemm.h"
#include "kernels/vector/targets.h"

namespace symbind::vector {

/// C = alpha · op(A) · op(B) + beta · C by one thread; C is not read if beta is 0, A and B are not
/// if alpha is. An element is one chain of multiply-adds in the order of k, which begins with 0, or
/// the sum of 16 partial sums where B is transposed and of few rows or columns or large. Where both
/// are transposed it is the definition.
using SmallProduct = void (*)(const GemmShape& s, float alpha, const float* a, const float* b,
                              float beta, float* c);

struct SmallProducts {
  SmallProduct run;
};
const ByIsa<SmallProducts>& small_products();

}  // namespace symbind::vector
