// The table of the binary functions: one line each.
#include "base/check.h"
#include "kernels/elementwise.h"
#include "kernels/elementwise_functors.h"

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
#define BINARY(name, F)                                                                            \
  {                                                                                                \
    name, { FORMS(functor::F, float), FORMS(functor::F, double), FORMS(functor::F, std::int64_t) } \
  }

constexpr BinaryFunction kFunctions[] = {
    BINARY("add", Add),
    BINARY("sub", Sub),
    BINARY("mul", Mul),
    BINARY("div", Div),
    BINARY("mod", Mod),
    BINARY("power", Power),
    BINARY("maximum", Maximum),
    BINARY("minimum", Minimum),
    BINARY("hypot", Hypot),
    BINARY("equal", Equal),
    BINARY("not_equal", NotEqual),
    BINARY("greater", Greater),
    BINARY("greater_equal", GreaterEqual),
    BINARY("lesser", Lesser),
    BINARY("lesser_equal", LesserEqual),
    BINARY("logical_and", LogicalAnd),
    BINARY("logical_or", LogicalOr),
    BINARY("logical_xor", LogicalXor),
};

#define GRAD_FORMS(F, T)                                                              \
  {                                                                                   \
    gradient_loop<F, T, Operand::kArrays>, gradient_loop<F, T, Operand::kRightValue>, \
        gradient_loop<F, T, Operand::kLeftValue>                                      \
  }
#define GRADIENT(F) \
  { GRAD_FORMS(functor::F, float), GRAD_FORMS(functor::F, double) }

constexpr BinaryGradient kGradients[] = {
    {"div", GRADIENT(DivLeft), GRADIENT(DivRight)},
    {"mod", GRADIENT(ModLeft), GRADIENT(ModRight)},
    {"power", GRADIENT(PowerLeft), GRADIENT(PowerRight)},
    {"maximum", GRADIENT(MaximumLeft), GRADIENT(MaximumRight)},
    {"minimum", GRADIENT(MinimumLeft), GRADIENT(MinimumRight)},
    {"hypot", GRADIENT(HypotLeft), GRADIENT(HypotRight)},
};

}  // namespace

const BinaryFunction& binary_function(std::string_view name) {
  for (const BinaryFunction& f : kFunctions)
    if (name == f.name) return f;
  fail(ErrorKind::kName, "there is no binary function '{}'", name);
}

const BinaryGradient& binary_gradient(std::string_view name, DType dtype) {
  // MXNet: the gradient of an integer remainder is 0.
  static constexpr BinaryGradient kFlat = {"flat", GRADIENT(Nothing), GRADIENT(Nothing)};
  if (name == "mod" && !is_float(dtype)) return kFlat;
  for (const BinaryGradient& g : kGradients)
    if (name == g.name) return g;
  fail(ErrorKind::kName, "there is no gradient of '{}'", name);
}

#undef FORMS
#undef BINARY
#undef GRAD_FORMS
#undef GRADIENT

}  // namespace symbind
