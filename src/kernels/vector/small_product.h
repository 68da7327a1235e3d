// Products of small float32 matrices, for which a library's preparations take longer than the
// multiplications.
#pragma once

#include "kernels/gemm.h"
#include "kernels/vector/targets.h"

namespace symbind::vector {

/// C = alpha · op(A) · op(B) + beta · C by one thread; C is not read if beta is 0, A and B are not
/// if alpha is. An element is the sum of 16 partial sums where A is plain and B is transposed, or
/// one dense column; elsewhere one chain of multiply-adds in the order of k, which begins with 0.
/// A transposed B of 4096 numbers or fewer, for 4 rows and 16 columns or more, is copied and then
/// counts as plain. Where both are transposed and B is not copied, gemm_plain computes.
using SmallProduct = void (*)(const GemmShape& s, float alpha, const float* a, const float* b,
                              float beta, float* c);

struct SmallProducts {
  SmallProduct run;
};
const ByIsa<SmallProducts>& small_products();

}  // namespace symbind::vector
