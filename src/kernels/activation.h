// Functions with parameters over arrays: the activations, clip and others of
// kernels/elementwise_formulas.h, SYMBIND_ACTIVATION.
//
// Decided here: 16-bit floats are computed in float, integers in double.
#pragma once

#include <cstdint>
#include <string_view>

#include "kernels/element_type.h"
#include "kernels/vector/activation.h"

namespace symbind {

/// One function over one dtype. The result may be written over an operand.
class ActivationRun {
 public:
  ActivationRun(std::string_view name, DType dtype);
  /// y = f(x, p, q), over threads.
  void forward(const void* x, void* y, std::int64_t n, double p = 0, double q = 0) const;
  /// dx = f'(dy, v, p, q), over threads; v is the input or the output, as the function says.
  void backward(const void* dy, const void* v, void* dx, std::int64_t n, double p = 0,
                double q = 0) const;
  /// The same for elements [begin, end), on this thread.
  void forward_range(const void* x, void* y, std::int64_t begin, std::int64_t end, double p,
                     double q) const;
  void backward_range(const void* dy, const void* v, void* dx, std::int64_t begin, std::int64_t end,
                      double p, double q) const;

 private:
  using Forward64 = void (*)(const double* x, double* y, std::int64_t n, double p, double q);
  using Backward64 = void (*)(const double* dy, const double* v, double* dx, std::int64_t n,
                              double p, double q);
  struct Doubles;
  static const Doubles kDoubles[];

  ElementType type_;
  vector::ActivationLoops floats_{};
  Forward64 forward64_ = nullptr;
  Backward64 backward64_ = nullptr;
};

}  // namespace symbind
