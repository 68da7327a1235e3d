// Shared by the layers with an epilogue: the attribute, the operands and their shapes, and the
// plain definition of every operation.
#pragma once

#include <symbind/operator.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "graph/flops.h"
#include "kernels/accumulate.h"
#include "kernels/element_type.h"

namespace symbind {

/// The attributes of a layer `A`, which has a member `epilogue`, for the operator that has one. It
/// adds no member, so the layer's gradient reads it as an `A`.
template <class A>
struct WithEpilogue : A {
  void describe(AttrVisitor& v) {
    A::describe(v);
    v.field("epilogue", A::epilogue, "Operations on the output, in order.").required();
  }
};

/// `names` of the layer's inputs and those of the epilogue's operands.
inline std::vector<std::string> with_operands(std::vector<std::string> names,
                                              const std::string& epilogue) {
  for (const EpilogueItem& item : parse_epilogue(epilogue)) {
    for (const std::string& operand : operand_names(item.kind)) {
      const auto taken = std::ranges::count_if(
          names, [&](const std::string& name) { return name.starts_with(operand); });
      names.push_back(taken == 0 ? operand : operand + std::to_string(taken));
    }
  }
  return names;
}

/// Types of a layer, which has `first` inputs, and shapes of the operands after them: the output's,
/// or one value per channel. A slope may also be a single number. All have one type, except that a
/// BatchNorm of 16-bit data has float32 arrays.
inline void infer_operands(const std::string& epilogue, Inference& io, int first,
                           std::int64_t channels) {
  for (int i = 1; i < first; ++i) io.same_dtype(io.in(0), io.in(i));
  io.same_dtype(io.in(0), io.out(0));
  const DType data = io.dtype(io.in(0));
  const auto tie_dtype = [&](EpilogueItem::Kind kind, int operand) {
    if (kind != EpilogueItem::Kind::kBatchNorm || !is_narrow(data))
      io.same_dtype(io.in(0), io.in(operand));
    else
      io.set_dtype(io.in(operand), DType::kFloat32, "as the data's type requires");
  };
  for (const EpilogueItem& item : parse_epilogue(epilogue)) {
    for (int i = 0; i < num_operands(item.kind); ++i, ++first) {
      tie_dtype(item.kind, first);
      if (item.kind == EpilogueItem::Kind::kSum || item.kind == EpilogueItem::Kind::kProduct)
        io.same_shape(io.in(first), io.out(0));
      else if (item.kind != EpilogueItem::Kind::kPRelu || io.shape(io.in(first)).size() != 1)
        io.set_shape(io.in(first), Shape{channels}, "one value per channel");
    }
  }
}

/// Operations of a layer with this epilogue; a BatchNorm is part of the weights.
inline double fused_flops(const std::string& epilogue, bool bias, const Work& w) {
  double count = layer_flops({.in = w.in.first(bias ? 3 : 2), .out = w.out});
  for (const EpilogueItem& item : parse_epilogue(epilogue))
    if (item.kind != EpilogueItem::Kind::kBatchNorm) count += w.out[0].size();
  return count;
}

/// Whether a layer without gradients of activations takes an epilogue: in training a sum alone.
inline bool takes_any_or_sum(const Epilogue& epilogue, bool training) {
  using Kind = EpilogueItem::Kind;
  if (training) return epilogue == Epilogue{{Kind::kSum}};
  return std::ranges::none_of(epilogue,
                              [](const EpilogueItem& item) { return item.kind == Kind::kProduct; });
}

/// One operation by its definition; `operand(i)` reads operand i for this element.
template <class Operand>
double apply_by_definition(const EpilogueItem& item, double x, const Operand& operand) {
  using Kind = EpilogueItem::Kind;
  switch (item.kind) {
    case Kind::kBatchNorm:
      return (x - operand(2)) * (item.b != 0 ? 1 : operand(0)) / std::sqrt(operand(3) + item.a) +
             operand(1);
    case Kind::kSum: return x + operand(0);
    case Kind::kProduct: return x * operand(0);
    case Kind::kRelu: return x > 0 ? x : 0;
    case Kind::kLeaky: return x > 0 ? x : item.a * x;
    case Kind::kPRelu: return x > 0 ? x : operand(0) * x;
    case Kind::kElu: return x > 0 ? x : item.a * std::expm1(x);
    case Kind::kClip: return x > item.b ? item.b : x < item.a ? item.a : x;
    case Kind::kSigmoid: return 1 / (1 + std::exp(-x));
    case Kind::kTanh: return std::tanh(x);
    case Kind::kSoftRelu: return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x)));
    case Kind::kGelu: return x * std::erfc(-x / std::numbers::sqrt2) / 2;
    case Kind::kSwish: return x / (1 + std::exp(-x));
  }
  return x;
}

/// An epilogue on plain elements [begin, end) of `y`, all of one channel; the operands of `args`
/// begin at input `first`.
template <class T>
void apply_by_definition(const Epilogue& epilogue, const KernelRequest& r, const Args& args,
                         int first, std::int64_t channel, T* y, std::int64_t begin,
                         std::int64_t end) {
  using Acc = Accumulator<T>;
  for (const EpilogueItem& item : epilogue) {
    for (std::int64_t i = begin; i < end; ++i) {
      const auto operand = [&](int number) {
        const std::int64_t size = r.in[static_cast<std::size_t>(first + number)].shape.size();
        const bool whole =
            item.kind == EpilogueItem::Kind::kSum || item.kind == EpilogueItem::Kind::kProduct;
        return static_cast<double>(
            static_cast<Acc>(args.in<T>(first + number)[whole       ? i
                                                        : size == 1 ? 0
                                                                    : channel]));
      };
      const double x = static_cast<double>(static_cast<Acc>(y[i]));
      y[i] = static_cast<T>(static_cast<Acc>(apply_by_definition(item, x, operand)));
    }
    first += num_operands(item.kind);
  }
}

}  // namespace symbind
