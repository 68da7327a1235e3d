#include "kernels/activation.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/check.h"
#include "base/parallel.h"
#include "kernels/accumulate.h"
#include "kernels/elementwise_formulas.h"

namespace symbind {
namespace activation {
namespace {

using std::abs, std::erfc, std::exp, std::expm1, std::log1p, std::tanh;

constexpr double kInvSqrtPi = std::numbers::inv_sqrtpi, kSqrtHalf = std::numbers::sqrt2 / 2,
                 kSeluScale = 1.0507009873554804934193349852946,
                 kSeluAlpha = 1.6732632423543772848170429916717;

double sigmoid(double x) { return 1 / (1 + exp(-x)); }
double pick(bool condition, double a, double b) { return condition ? a : b; }

#define LOOPS(name, value, gradient)                                                            \
  void forward_##name(const double* in, double* out, std::int64_t n, [[maybe_unused]] double p, \
                      [[maybe_unused]] double q) {                                              \
    using T [[maybe_unused]] = double;                                                          \
    for (std::int64_t i = 0; i < n; ++i) {                                                      \
      const double x = in[i];                                                                   \
      out[i] = value;                                                                           \
    }                                                                                           \
  }                                                                                             \
  void backward_##name(const double* head, const double* saved, double* out, std::int64_t n,    \
                       [[maybe_unused]] double p, [[maybe_unused]] double q) {                  \
    using T [[maybe_unused]] = double;                                                          \
    for (std::int64_t i = 0; i < n; ++i) {                                                      \
      const double dy = head[i], v = saved[i];                                                  \
      out[i] = gradient;                                                                        \
    }                                                                                           \
  }
SYMBIND_ACTIVATION(LOOPS)
#undef LOOPS

}  // namespace
}  // namespace activation

struct ActivationRun::Doubles {
  const char* name;
  Forward64 forward;
  Backward64 backward;
};
#define ENTRY(name, ...) {#name, activation::forward_##name, activation::backward_##name},
const ActivationRun::Doubles ActivationRun::kDoubles[] = {SYMBIND_ACTIVATION(ENTRY)};
#undef ENTRY

ActivationRun::ActivationRun(std::string_view name, DType dtype)
    : type_(element_type(dtype, Compute::kDouble)) {
  for (const vector::ActivationLoops& f : vector::activation_loops().best().functions)
    if (name == f.name) floats_ = f;
  for (const Doubles& f : kDoubles)
    if (name == f.name) forward64_ = f.forward, backward64_ = f.backward;
  check(floats_.forward != nullptr, ErrorKind::kName, "there is no activation '{}'", name);
}

void ActivationRun::forward(const void* x, void* y, std::int64_t n, double p, double q) const {
  parallel_for(n, kElementGrain, [&](std::int64_t begin, std::int64_t end) {
    forward_range(x, y, begin, end, p, q);
  });
}

void ActivationRun::backward(const void* dy, const void* v, void* dx, std::int64_t n, double p,
                             double q) const {
  parallel_for(n, kElementGrain, [&](std::int64_t begin, std::int64_t end) {
    backward_range(dy, v, dx, begin, end, p, q);
  });
}

void ActivationRun::forward_range(const void* x, void* y, std::int64_t begin, std::int64_t end,
                                  double p, double q) const {
  const auto loop = [&](const void* from, void* to, std::int64_t n) {
    if (type_.compute == Compute::kDouble)
      forward64_(static_cast<const double*>(from), static_cast<double*>(to), n, p, q);
    else
      floats_.forward(static_cast<const float*>(from), static_cast<float*>(to), n,
                      static_cast<float>(p), static_cast<float>(q));
  };
  const auto size = static_cast<std::int64_t>(type_.size);
  const auto* xs = static_cast<const char*>(x);
  auto* ys = static_cast<char*>(y);
  if (type_.load == nullptr) return loop(xs + begin * size, ys + begin * size, end - begin);
  alignas(64) char in[kChunk * 8];
  for (std::int64_t i = begin; i < end; i += kChunk) {
    const std::int64_t n = std::min(kChunk, end - i);
    type_.load(xs + i * size, in, n);
    loop(in, in, n);
    type_.store(in, ys + i * size, n);
  }
}

void ActivationRun::backward_range(const void* dy, const void* v, void* dx, std::int64_t begin,
                                   std::int64_t end, double p, double q) const {
  const auto loop = [&](const void* head, const void* saved, void* to, std::int64_t n) {
    if (type_.compute == Compute::kDouble)
      backward64_(static_cast<const double*>(head), static_cast<const double*>(saved),
                  static_cast<double*>(to), n, p, q);
    else
      floats_.backward(static_cast<const float*>(head), static_cast<const float*>(saved),
                       static_cast<float*>(to), n, static_cast<float>(p), static_cast<float>(q));
  };
  const auto size = static_cast<std::int64_t>(type_.size);
  const auto *heads = static_cast<const char*>(dy), *vs = static_cast<const char*>(v);
  auto* out = static_cast<char*>(dx);
  if (type_.load == nullptr)
    return loop(heads + begin * size, vs + begin * size, out + begin * size, end - begin);
  alignas(64) char head[kChunk * 8], saved[kChunk * 8];
  for (std::int64_t i = begin; i < end; i += kChunk) {
    const std::int64_t n = std::min(kChunk, end - i);
    type_.load(heads + i * size, head, n);
    type_.load(vs + i * size, saved, n);
    loop(head, saved, head, n);
    type_.store(head, out + i * size, n);
  }
}

}  // namespace symbind
