// The rules are data: products of matrices by their sizes, everything else by so many operations
// per element. Passes know no operators by name but here and in the patterns of fuse.cpp; an
// operator that no row names costs an unknown number of FLOPs, and is shown so.

#include "passes/cost.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

#include "kernels/elementwise.h"

namespace symbind {
namespace {

struct Work {
  const OpDef& op;
  const void* attrs;
  std::span<const CostTensor> in, out;

  static double size(const CostTensor& t) {
    return t.is_there ? static_cast<double>(t.desc.shape.size()) : 0;
  }
  double all_in() const {
    double sum = 0;
    for (const CostTensor& t : in) sum += size(t);
    return sum;
  }
  double all_out() const {
    double sum = 0;
    for (const CostTensor& t : out) sum += size(t);
    return sum;
  }
  const CostTensor* input(std::string_view name) const {
    const std::vector<std::string> names = op.input_names(attrs);
    const auto it = std::ranges::find(names, name);
    const auto at = static_cast<std::size_t>(it - names.begin());
    return at < in.size() ? &in[at] : nullptr;
  }
  const CostTensor* output(std::string_view name) const {
    const std::vector<std::string> names = op.output_names(attrs);
    const auto it = std::ranges::find(names, name);
    const auto at = static_cast<std::size_t>(it - names.begin());
    return at < out.size() && out[at].is_there ? &out[at] : nullptr;
  }
  /// The attribute's text; "" where there is none of this name.
  std::string attr(const char* name) const {
    // describe() binds to the instance, which is only read.
    for (const auto& [key, value] : attrs_to_dict(op.describe(const_cast<void*>(attrs)), false))
      if (key == name) return value;
    return "";
  }
  double number(const char* name) const {
    const std::string text = attr(name);
    double value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
  }
};

double rows(const Shape& s) { return s.rank() > 0 ? static_cast<double>(s[0]) : 1; }

// ---- Products -----------------------------------------------------------------------------------

// Every element of the result is a sum over what its filter sees.
double convolution(const Work& w) {
  const CostTensor& weight = *w.input("weight");
  const double out = Work::size(w.out[0]);
  double flops = 2 * out * Work::size(weight) / rows(weight.desc.shape);
  flops += out * static_cast<double>(w.in.size() - 2);  // the bias, and the sum of a fused one
  return flops;
}

// Inputs: the gradient of the output, data, weight. Each gradient asked for is one such product.
double backward_convolution(const Work& w) {
  const CostTensor& weight = *w.input("weight");
  const double head = Work::size(w.in[0]);
  const double product = 2 * head * Work::size(weight) / rows(weight.desc.shape);
  return product * (w.output("data") != nullptr) + product * (w.output("weight") != nullptr) +
         head * (w.output("bias") != nullptr);
}

double deconvolution(const Work& w) {
  const CostTensor& weight = *w.input("weight");
  return 2 * Work::size(w.in[0]) * Work::size(weight) / rows(weight.desc.shape) +
         Work::size(w.out[0]) * (w.in.size() > 2 ? 1 : 0);
}

double backward_deconvolution(const Work& w) {
  const CostTensor& weight = *w.input("weight");
  const CostTensor* data = w.input("data");
  const double product = 2 * Work::size(*data) * Work::size(weight) / rows(weight.desc.shape);
  return product * (w.output("data") != nullptr) + product * (w.output("weight") != nullptr) +
         Work::size(w.in[0]) * (w.output("bias") != nullptr);
}

double fully_connected(const Work& w) {
  const CostTensor& weight = *w.input("weight");
  const double out = Work::size(w.out[0]);
  return 2 * out * Work::size(weight) / rows(weight.desc.shape) + out * (w.in.size() > 2 ? 1 : 0);
}

// a·b of (M, K) and (K, N), whatever is transposed: sizes MK, KN and MN give K. With a batch each
// has one more factor.
double product(double a, double b, double c, double batch) {
  if (a == 0 || b == 0 || c == 0) return 0;
  return 2 * c * std::sqrt(a * b / (c * batch));
}
double batch_of(const Shape& s) {
  double batch = 1;
  for (int i = 0; i + 2 < s.rank(); ++i) batch *= static_cast<double>(s[i]);
  return batch;
}
double dot(const Work& w) {
  return product(Work::size(w.in[0]), Work::size(w.in[1]), Work::size(w.out[0]), 1);
}
double batch_dot(const Work& w) {
  return product(Work::size(w.in[0]), Work::size(w.in[1]), Work::size(w.out[0]),
                 batch_of(w.out[0].desc.shape));
}
double backward_products(const Work& w, double batch) {
  const double one = product(Work::size(w.in[1]), Work::size(w.in[2]), Work::size(w.in[0]), batch);
  double flops = 0;
  for (const CostTensor& t : w.out) flops += t.is_there ? one : 0;
  return flops;
}
double backward_dot(const Work& w) { return backward_products(w, 1); }
double backward_batch_dot(const Work& w) {
  return backward_products(w, batch_of(w.in[0].desc.shape));
}

// Every step multiplies every matrix among the parameters by a vector per sample; biases aside.
double rnn(const Work& w) {
  const std::string mode = w.attr("mode");
  const double gates = mode == "lstm" ? 4 : mode == "gru" ? 3 : 1;
  const double directions = w.attr("bidirectional") == "True" ? 2 : 1;
  const double biases = 2 * gates * w.number("state_size") * w.number("num_layers") * directions;
  const Shape& data = w.input("data")->desc.shape;
  return 2 * static_cast<double>(data[0] * data[1]) * (Work::size(*w.input("parameters")) - biases);
}
double backward_rnn(const Work& w) {
  return rnn(w) * ((w.output("data") != nullptr) + (w.output("parameters") != nullptr));
}

double window(const Work& w) {
  if (w.attr("global_pool") == "True") return -1;
  double area = 1, digits = 0;
  bool any = false;
  for (const char c : w.attr("kernel") + " ") {
    if (c >= '0' && c <= '9') {
      digits = digits * 10 + (c - '0');
      any = true;
    } else if (any) {
      area *= digits;
      digits = 0;
      any = false;
    }
  }
  return area;
}
double pooling(const Work& w) {
  const double area = window(w);
  return area < 0 ? Work::size(w.in[0]) : area * Work::size(w.out[0]);
}
double backward_pooling(const Work& w) {
  const double area = window(w);
  return area < 0 ? w.all_out() : area * Work::size(w.in[0]);
}

struct Product {
  const char* op;
  double (*flops)(const Work&);
};
constexpr Product kProducts[] = {
    {"Convolution", convolution},
    {"_fused_Convolution_sum", convolution},
    {"_backward_Convolution", backward_convolution},
    {"Deconvolution", deconvolution},
    {"_backward_Deconvolution", backward_deconvolution},
    {"FullyConnected", fully_connected},
    {"_backward_FullyConnected", backward_convolution},
    {"dot", dot},
    {"_backward_dot", backward_dot},
    {"batch_dot", batch_dot},
    {"_backward_batch_dot", backward_batch_dot},
    {"_linalg_gemm2", batch_dot},
    {"_backward_linalg_gemm2", backward_batch_dot},
    {"RNN", rnn},
    {"_backward_RNN", backward_rnn},
    {"Pooling", pooling},
    {"_backward_Pooling", backward_pooling},
};

// ---- So many per element ------------------------------------------------------------------------

enum class Of : std::uint8_t { kOutput, kFirstInput, kInputs };

struct PerElement {
  const char* pattern;  ///< of names; * stands for any text at one end
  Of of;
  double flops;
};

// The first row that fits counts.
constexpr PerElement kPerElement[] = {
    // Nothing is computed: elements are moved, counted or made.
    {"broadcast_to", Of::kOutput, 0},
    {"broadcast_axis", Of::kOutput, 0},
    {"broadcast_like", Of::kOutput, 0},
    {"reshape*", Of::kOutput, 0},
    {"Reshape", Of::kOutput, 0},
    {"Flatten", Of::kOutput, 0},
    {"expand_dims", Of::kOutput, 0},
    {"squeeze", Of::kOutput, 0},
    {"transpose", Of::kOutput, 0},
    {"SwapAxis", Of::kOutput, 0},
    {"Concat", Of::kOutput, 0},
    {"_backward_Concat", Of::kOutput, 0},
    {"stack", Of::kOutput, 0},
    {"SliceChannel", Of::kOutput, 0},
    {"_split_v2", Of::kOutput, 0},
    {"slice*", Of::kOutput, 0},
    {"_backward_slice*", Of::kOutput, 0},
    {"_slice_assign*", Of::kOutput, 0},
    {"Crop", Of::kOutput, 0},
    {"_backward_Crop", Of::kOutput, 0},
    {"Pad", Of::kOutput, 0},
    {"_backward_Pad", Of::kOutput, 0},
    {"tile", Of::kOutput, 0},
    {"repeat", Of::kOutput, 0},
    {"reverse", Of::kOutput, 0},
    {"Sequence*", Of::kOutput, 0},
    {"_backward_SequenceLast", Of::kOutput, 0},
    {"_copy", Of::kOutput, 0},
    {"_CrossDeviceCopy", Of::kOutput, 0},
    {"Cast", Of::kOutput, 0},
    {"_backward_cast", Of::kOutput, 0},
    {"amp_*cast", Of::kOutput, 0},
    {"BlockGrad", Of::kOutput, 0},
    {"MakeLoss", Of::kOutput, 0},
    {"make_loss", Of::kOutput, 0},
    {"Embedding", Of::kOutput, 0},
    {"take", Of::kOutput, 0},
    {"pick", Of::kOutput, 0},
    {"one_hot", Of::kOutput, 0},
    {"gather_nd", Of::kOutput, 0},
    {"where", Of::kOutput, 0},
    {"_backward_where", Of::kOutput, 0},
    {"_zeros", Of::kOutput, 0},
    {"_ones", Of::kOutput, 0},
    {"_full", Of::kOutput, 0},
    {"zeros_like", Of::kOutput, 0},
    {"ones_like", Of::kOutput, 0},
    {"shape_array", Of::kOutput, 0},
    {"_set_value", Of::kOutput, 0},
    {"_identity_with_attr_like_rhs", Of::kOutput, 0},
    // Gradients of those that read an element more than once.
    {"_backward_Embedding", Of::kFirstInput, 1},
    {"_backward_take", Of::kFirstInput, 1},
    {"_backward_tile", Of::kFirstInput, 1},
    {"_backward_repeat", Of::kFirstInput, 1},
    // Sums over axes.
    {"sum", Of::kFirstInput, 1},
    {"mean", Of::kFirstInput, 1},
    {"max", Of::kFirstInput, 1},
    {"min", Of::kFirstInput, 1},
    {"prod", Of::kFirstInput, 1},
    {"nansum", Of::kFirstInput, 1},
    {"nanprod", Of::kFirstInput, 1},
    {"_sum_like", Of::kFirstInput, 1},
    {"norm", Of::kFirstInput, 2},
    {"arg*", Of::kFirstInput, 1},
    {"multi_sum_sq", Of::kInputs, 2},
    {"_backward_sum", Of::kOutput, 0},
    {"_backward_mean", Of::kOutput, 1},
    {"add_n", Of::kInputs, 1},
    // Layers: mean and variance 4, normalising 2, scale and shift 2.
    {"BatchNorm", Of::kFirstInput, 8},
    {"_fused_BatchNorm_relu", Of::kFirstInput, 9},
    {"LayerNorm", Of::kFirstInput, 8},
    {"InstanceNorm", Of::kFirstInput, 8},
    {"GroupNorm", Of::kFirstInput, 8},
    {"_backward_BatchNorm", Of::kFirstInput, 11},
    {"_backward_fused_BatchNorm_relu", Of::kFirstInput, 12},
    {"_backward_LayerNorm", Of::kFirstInput, 11},
    {"_backward_InstanceNorm", Of::kFirstInput, 11},
    {"_backward_GroupNorm", Of::kFirstInput, 11},
    {"L2Normalization", Of::kFirstInput, 3},
    {"Activation", Of::kOutput, 1},
    {"_backward_Activation", Of::kOutput, 2},
    {"LeakyReLU", Of::kFirstInput, 1},
    {"_backward_LeakyReLU", Of::kFirstInput, 2},
    {"Dropout", Of::kFirstInput, 1},
    {"_backward_Dropout", Of::kFirstInput, 1},
    {"softm*", Of::kFirstInput, 4},
    {"log_softmax", Of::kFirstInput, 4},
    {"Softmax*", Of::kFirstInput, 4},
    {"_backward_Softmax*", Of::kFirstInput, 2},
    {"_backward_soft*", Of::kFirstInput, 4},
    {"_backward_log_softmax", Of::kFirstInput, 3},
    {"*RegressionOutput", Of::kFirstInput, 1},
    {"_backward_linear_reg_out", Of::kOutput, 2},
    {"_backward_logistic_reg_out", Of::kOutput, 2},
    {"_backward_mae_reg_out", Of::kOutput, 2},
    // Updates, per weight: what the formula says.
    {"sgd_update", Of::kOutput, 4},
    {"sgd_mom_update", Of::kOutput, 6},
    {"nag_mom_update", Of::kOutput, 8},
    {"adam_update", Of::kOutput, 14},
    {"rmsprop_update", Of::kOutput, 10},
    // Elementwise families.
    {"elemwise_*", Of::kOutput, 1},
    {"broadcast_*", Of::kOutput, 1},
    {"_grad_add", Of::kOutput, 1},
    {"clip", Of::kOutput, 1},
    {"*_scalar", Of::kOutput, 1},
    {"smooth_l1", Of::kOutput, 3},
    {"_plus", Of::kOutput, 1},
    {"_minus", Of::kOutput, 1},
    {"_mul", Of::kOutput, 1},
    {"_div", Of::kOutput, 1},
    {"_power", Of::kOutput, 1},
    {"_maximum", Of::kOutput, 1},
    {"_minimum", Of::kOutput, 1},
    {"_mod", Of::kOutput, 1},
    {"_hypot", Of::kOutput, 1},
    {"_*equal", Of::kOutput, 1},
    {"_greater", Of::kOutput, 1},
    {"_lesser", Of::kOutput, 1},
    {"_logical_*", Of::kOutput, 1},
};

bool fits(std::string_view pattern, std::string_view name) {
  const std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) return name == pattern;
  const std::string_view head = pattern.substr(0, star), tail = pattern.substr(star + 1);
  return name.size() >= head.size() + tail.size() && name.starts_with(head) && name.ends_with(tail);
}

double per_element(const Work& w) {
  for (const PerElement& row : kPerElement) {
    if (!fits(row.pattern, w.op.name)) continue;
    switch (row.of) {
      case Of::kOutput: return row.flops * w.all_out();
      case Of::kFirstInput: return w.in.empty() ? 0 : row.flops * Work::size(w.in[0]);
      case Of::kInputs: return row.flops * w.all_in();
    }
  }
  // The unary family and its gradients.
  constexpr std::string_view kBackward = "_backward_";
  std::string_view name = w.op.name;
  const bool backward = name.starts_with(kBackward);
  if (backward) name.remove_prefix(kBackward.size());
  for (const UnaryFunction& f : kUnaryFunctions)
    if (name == f.name) return (backward ? 2 : 1) * w.all_out();
  return -1;
}

double flops_of(const Work& w) {
  for (const Product& rule : kProducts)
    if (w.op.name == rule.op) return rule.flops(w);
  return per_element(w);
}

}  // namespace

Cost cost_of(const OpDef& op, const void* attrs, std::span<const CostTensor> in,
             std::span<const CostTensor> out) {
  Cost cost{.flops = flops_of({op, attrs, in, out}), .bytes = 0};
  for (std::size_t i = 0; i < in.size(); ++i) {
    const int input = static_cast<int>(i);
    if (!op.reads_only_shape(attrs, input)) cost.bytes += static_cast<double>(in[i].bytes);
    if (op.mutates(attrs, input)) cost.bytes += static_cast<double>(in[i].bytes);
  }
  for (const CostTensor& t : out)
    if (t.is_there) cost.bytes += static_cast<double>(t.bytes);
  return cost;
}

Cost cost_of(const Plan& plan, const PlanStep& step) {
  const auto views = [&](const std::vector<int>& tensors) {
    std::vector<CostTensor> all;
    for (const int t : tensors) {
      const PlanTensor& tensor = plan.tensors[static_cast<std::size_t>(t)];
      all.push_back({.desc = tensor.desc,
                     .bytes = tensor.desc.bytes(),
                     .is_there = tensor.home != Home::kNowhere});
    }
    return all;
  };
  const std::vector<CostTensor> in = views(step.in), out = views(step.out);
  if (step.node != nullptr) return cost_of(*step.node->op, step.node->parsed.get(), in, out);
  Cost cost{.flops = 0, .bytes = 0};  // a change of layout
  for (const auto* list : {&in, &out})
    for (const CostTensor& t : *list) cost.bytes += static_cast<double>(t.bytes);
  return cost;
}

}  // namespace symbind
