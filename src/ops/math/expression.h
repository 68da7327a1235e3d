#pragma once
// Gradients written as formulas: x * x + 1.0 over entries of the gradient graph. Arrays must have
// equal shapes.

#include <string>

#include <fmt/format.h>
#include <symbind/rules.h>

namespace symbind {

class Expression {
 public:
  Expression(GradientBuilder& g, NodeEntry entry) : g_(&g), entry_(std::move(entry)) {}
  const NodeEntry& entry() const { return entry_; }

  Expression call(const char* op) const { return {*g_, g_->call(op, {entry_})}; }
  Expression with(const char* op, double number) const {
    return {*g_, g_->call(op, {entry_}, {{"scalar", fmt::format("{}", number)}})};
  }
  Expression pow(double exponent) const { return with("_power_scalar", exponent); }

  friend Expression operator*(const Expression& a, const Expression& b) {
    return {*a.g_, a.g_->call("elemwise_mul", {a.entry_, b.entry_})};
  }
  friend Expression operator*(double a, const Expression& b) { return b.with("_mul_scalar", a); }
  friend Expression operator+(double a, const Expression& b) { return b.with("_plus_scalar", a); }
  friend Expression operator-(double a, const Expression& b) { return b.with("_rminus_scalar", a); }
  Expression operator-() const { return call("negative"); }

 private:
  GradientBuilder* g_;
  NodeEntry entry_;
};

}  // namespace symbind
