// The tables of the binary functions and their gradients: loops over numbers, and for float32 those
// over vectors where they exist.
#include <algorithm>
#include <array>

#include "base/check.h"
#include "kernels/elementwise.h"
#include "kernels/elementwise_functors.h"
#include "kernels/vector/elementwise.h"

namespace symbind {
namespace {

template <class F, class T, Operand form>
void binary_loop(const void* left, const void* right, void* result, std::int64_t n) {
  const auto* a = static_cast<const T*>(left);
  const auto* b = static_cast<const T*>(right);
  auto* y = static_cast<T*>(result);
  if constexpr (form == Operand::kArrays) {
#pragma GCC ivdep
    for (std::int64_t i = 0; i < n; ++i) y[i] = F{}(a[i], b[i]);
  } else if constexpr (form == Operand::kRightValue) {
    const T value = *b;
#pragma GCC ivdep
    for (std::int64_t i = 0; i < n; ++i) y[i] = F{}(a[i], value);
  } else {
    const T value = *a;
#pragma GCC ivdep
    for (std::int64_t i = 0; i < n; ++i) y[i] = F{}(value, b[i]);
  }
}

template <class F, class T, Operand form>
void gradient_loop(const void* head, const void* left, const void* right, void* result,
                   std::int64_t n) {
  const auto* g = static_cast<const T*>(head);
  const auto* a = static_cast<const T*>(left);
  const auto* b = static_cast<const T*>(right);
  auto* y = static_cast<T*>(result);
  const T a0 = *a, b0 = *b;
#pragma GCC ivdep
  for (std::int64_t i = 0; i < n; ++i)
    y[i] = F{}(g[i], form == Operand::kLeftValue ? a0 : a[i],
               form == Operand::kRightValue ? b0 : b[i]);
}

#define FORMS(F, T)                                                               \
  {                                                                               \
    binary_loop<F, T, Operand::kArrays>, binary_loop<F, T, Operand::kRightValue>, \
        binary_loop<F, T, Operand::kLeftValue>                                    \
  }
#define BINARY(name, F, ...) \
  {#name, {FORMS(functor::F, float), FORMS(functor::F, double), FORMS(functor::F, std::int64_t)}},

constexpr BinaryFunction kFunctions[] = {
    // clang-format off
    SYMBIND_BINARY(BINARY)
    BINARY(mod, Mod)
    BINARY(power, Power)
    BINARY(hypot, Hypot)
    // clang-format on
};

#define GRAD_FORMS(F, T)                                                              \
  {                                                                                   \
    gradient_loop<F, T, Operand::kArrays>, gradient_loop<F, T, Operand::kRightValue>, \
        gradient_loop<F, T, Operand::kLeftValue>                                      \
  }
#define GRADIENT(F) \
  { GRAD_FORMS(functor::F, float), GRAD_FORMS(functor::F, double) }

#define GRADIENTS(name, Left, left, Right, right) {#name, GRADIENT(Left), GRADIENT(Right)},

constexpr BinaryGradient kGradients[] = {
    // clang-format off
    SYMBIND_BINARY_GRADIENT(GRADIENTS)
    GRADIENTS(mod, ModLeft, , ModRight, )
    GRADIENTS(power, PowerLeft, , PowerRight, )
    GRADIENTS(hypot, HypotLeft, , HypotRight, )
    // clang-format on
};

constexpr std::size_t kFloat = static_cast<std::size_t>(Compute::kFloat);

/// The table above with the loops that exist for vectors.
auto functions_of_this_cpu() {
  std::array<BinaryFunction, std::size(kFunctions)> table;
  std::copy(std::begin(kFunctions), std::end(kFunctions), table.begin());
  for (BinaryFunction& f : table)
    for (const vector::BinaryLoops& v : vector::binary_loops().best().functions)
      if (std::string_view(v.name) == f.name) std::copy_n(v.loops, 3, f.loops[kFloat]);
  return table;
}
auto gradients_of_this_cpu() {
  std::array<BinaryGradient, std::size(kGradients)> table;
  std::copy(std::begin(kGradients), std::end(kGradients), table.begin());
  for (BinaryGradient& g : table)
    for (const vector::GradientLoops& v : vector::binary_loops().best().gradients)
      if (std::string_view(v.name) == g.name) {
        std::copy_n(v.left, 3, g.left[kFloat]);
        std::copy_n(v.right, 3, g.right[kFloat]);
      }
  return table;
}

}  // namespace

const BinaryFunction& binary_function(std::string_view name) {
  static const auto kTable = functions_of_this_cpu();
  for (const BinaryFunction& f : kTable)
    if (name == f.name) return f;
  fail(ErrorKind::kName, "there is no binary function '{}'", name);
}

const BinaryGradient& binary_gradient(std::string_view name, DType dtype) {
  // MXNet: the gradient of an integer remainder is 0.
  static constexpr BinaryGradient kFlat = {"flat", GRADIENT(Nothing), GRADIENT(Nothing)};
  static const auto kTable = gradients_of_this_cpu();
  if (name == "mod" && !is_float(dtype)) return kFlat;
  for (const BinaryGradient& g : kTable)
    if (name == g.name) return g;
  fail(ErrorKind::kName, "there is no gradient of '{}'", name);
}

#undef FORMS
#undef BINARY
#undef GRAD_FORMS
#undef GRADIENT
#undef GRADIENTS

}  // namespace symbind
