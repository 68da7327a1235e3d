#pragma once
// Counts that several operators share: products of matrices and of filters.

#include <symbind/cost.h>

namespace symbind {

/// Elements that are each a sum over one filter of `weight` (filters, …).
double filter_flops(double elements, const CostTensor& weight);
/// Inputs data, weight, and what is added to every element: a bias, a sum.
double layer_flops(const Work& w);
/// Inputs dy, data, weight; outputs data, weight, bias. Each computed gradient is one product.
double layer_backward_flops(const Work& w, double product);

/// a·b of (M, K) and (K, N), whatever is transposed: sizes MK, KN and MN give K. `batch`: how many
/// such products there are.
double matrix_flops(const CostTensor& a, const CostTensor& b, const CostTensor& c, double batch);
/// Inputs: the gradient of c, a, b. Each computed gradient is one product.
double matrix_backward_flops(const Work& w, double batch);
/// The matrices in an array of them.
double matrices_in(const Shape& shape);

}  // namespace symbind
