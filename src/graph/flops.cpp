#include "graph/flops.h"

#include <cmath>

namespace symbind {
namespace {

double sum_of(std::span<const CostTensor> tensors) {
  double sum = 0;
  for (const CostTensor& t : tensors) sum += t.size();
  return sum;
}

}  // namespace

double Work::all_in() const { return sum_of(in); }
double Work::all_out() const { return sum_of(out); }

FlopsRule flops_per_element(double count, Per per) {
  return [count, per](const void*, const Work& w) {
    switch (per) {
      case Per::kOutput: return count * w.all_out();
      case Per::kFirstInput: return w.in.empty() ? 0 : count * w.in[0].size();
      case Per::kInputs: return count * w.all_in();
    }
    return 0.0;
  };
}

double filter_flops(double elements, const CostTensor& weight) {
  if (weight.size() == 0) return 0;
  const Shape& shape = weight.desc.shape;
  const double filters = shape.rank() > 0 ? static_cast<double>(shape[0]) : 1;
  return 2 * elements * weight.size() / filters;
}

double layer_flops(const Work& w) {
  const double out = w.out[0].size();
  return filter_flops(out, w.in[1]) + out * static_cast<double>(w.in.size() - 2);
}

double layer_backward_flops(const Work& w, double product) {
  double flops = 0;
  for (std::size_t o = 0; o < w.out.size(); ++o)
    if (w.out[o].is_there) flops += o < 2 ? product : w.in[0].size();
  return flops;
}

double matrix_flops(const CostTensor& a, const CostTensor& b, const CostTensor& c, double batch) {
  if (a.size() == 0 || b.size() == 0 || c.size() == 0) return 0;
  return 2 * c.size() * std::sqrt(a.size() * b.size() / (c.size() * batch));
}

double matrix_backward_flops(const Work& w, double batch) {
  const double one = matrix_flops(w.in[1], w.in[2], w.in[0], batch);
  double flops = 0;
  for (const CostTensor& t : w.out) flops += t.is_there ? one : 0;
  return flops;
}

double matrices_in(const Shape& shape) {
  double count = 1;
  for (int i = 0; i + 2 < shape.rank(); ++i) count *= static_cast<double>(shape[i]);
  return count;
}

}  // namespace symbind
