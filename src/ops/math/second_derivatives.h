#pragma once
// The slope of a derivative, for gradients of gradients (autograd, create_graph).
//
// _backward_f(dy, v) = dy · c(v), where v is x or y as the function's table says. Here is c'(v) for
// the functions whose c is smooth; others have none and report it.

#include <numbers>
#include <string_view>

#include "ops/math/expression.h"

namespace symbind {

struct SecondDerivative {
  const char* name;
  Expression (*of)(const Expression& v);
};

inline constexpr SecondDerivative kSecondDerivatives[] = {
    // c(y)
    {"sigmoid", [](const Expression& y) { return 1.0 - 2.0 * y; }},
    {"tanh", [](const Expression& y) { return -2.0 * y; }},
    {"exp", [](const Expression& y) { return y.call("ones_like"); }},
    {"sqrt", [](const Expression& y) { return -0.5 * y.pow(-2); }},
    {"cbrt", [](const Expression& y) { return -2.0 / 3 * y.pow(-3); }},
    {"tan", [](const Expression& y) { return 2.0 * y; }},
    {"relu", [](const Expression& y) { return y.call("zeros_like"); }},
    // c(x)
    {"log", [](const Expression& x) { return -x.pow(-2); }},
    {"log2", [](const Expression& x) { return -1.0 / std::numbers::ln2 * x.pow(-2); }},
    {"log10", [](const Expression& x) { return -1.0 / std::numbers::ln10 * x.pow(-2); }},
    {"log1p", [](const Expression& x) { return -(1.0 + x).pow(-2); }},
    {"expm1", [](const Expression& x) { return x.call("exp"); }},
    {"rsqrt", [](const Expression& x) { return 0.75 * x.pow(-2.5); }},
    {"reciprocal", [](const Expression& x) { return 2.0 * x.pow(-3); }},
    {"sin", [](const Expression& x) { return -x.call("sin"); }},
    {"cos", [](const Expression& x) { return -x.call("cos"); }},
    {"arcsin", [](const Expression& x) { return x * (1.0 - x.call("square")).pow(-1.5); }},
    {"arccos", [](const Expression& x) { return -(x * (1.0 - x.call("square")).pow(-1.5)); }},
    {"arctan", [](const Expression& x) { return -2.0 * (x * (1.0 + x.call("square")).pow(-2)); }},
    {"sinh", [](const Expression& x) { return x.call("sinh"); }},
    {"cosh", [](const Expression& x) { return x.call("cosh"); }},
    {"arcsinh", [](const Expression& x) { return -(x * (1.0 + x.call("square")).pow(-1.5)); }},
    {"arccosh", [](const Expression& x) { return -(x * (-1.0 + x.call("square")).pow(-1.5)); }},
    {"arctanh", [](const Expression& x) { return 2.0 * (x * (1.0 - x.call("square")).pow(-2)); }},
    {"erf",
     [](const Expression& x) {
       return -4.0 * std::numbers::inv_sqrtpi * (x * (-x.call("square")).call("exp"));
     }},
    {"square", [](const Expression& x) { return 2.0 * x.call("ones_like"); }},
    {"abs", [](const Expression& x) { return x.call("zeros_like"); }},
};

/// Null where there is none.
inline const SecondDerivative* second_derivative(std::string_view name) {
  for (const SecondDerivative& d : kSecondDerivatives)
    if (name == d.name) return &d;
  return nullptr;
}

}  // namespace symbind
