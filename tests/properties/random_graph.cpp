#include "tests/properties/random_graph.h"

#include <cmath>

#include "tests/support/formula.h"

namespace symbind {
namespace {

class Drawer {
 public:
  explicit Drawer(std::uint64_t seed) : seed_(seed) {}

  RandomGraph draw() {
    RandomGraph g;
    g.shapes["data"] = {2, pick({3, 8, 16}), 8, 8};
    open_.push_back({Variable("data"), g.shapes["data"]});
    const int nodes = 5 + below(9);
    for (int i = 0; i < nodes; ++i) open_.push_back(next());
    // The last ones are heads: one through a classifier, others as they are.
    std::vector<Symbol> heads = {classifier(open_.back().symbol)};
    if (below(2) == 0) heads.push_back(open_[open_.size() - 2].symbol);
    g.symbol = Group(heads);
    return g;
  }

 private:
  struct Tensor {
    Symbol symbol;
    Shape shape;
  };

  int below(int n) {
    return static_cast<int>(formula::bits(seed_, drawn_++) % static_cast<std::uint64_t>(n));
  }
  std::int64_t pick(const std::vector<std::int64_t>& from) {
    return from[static_cast<std::size_t>(below(static_cast<int>(from.size())))];
  }
  std::string flag() { return below(2) == 0 ? "True" : "False"; }
  std::string name(const char* op) { return std::string(op) + std::to_string(++named_); }
  /// Mostly the newest tensor, sometimes an older one: branches.
  Tensor any() {
    const auto n = static_cast<int>(open_.size());
    return open_[static_cast<std::size_t>(below(3) > 0 ? n - 1 : below(n))];
  }
  Symbol make(const char* op, const std::vector<Symbol>& in, const AttrDict& attrs = {}) {
    return make_symbol(op, name(op), in, attrs);
  }

  Tensor next() {
    const Tensor t = any();
    switch (below(10)) {
      case 0:
      case 1: return convolution(t);
      case 2:
        return {make("BatchNorm", {t.symbol}, {{"fix_gamma", flag()}, {"eps", "0.001"}}), t.shape};
      case 3:
        return {make("Activation", {make("BatchNorm", {t.symbol}, {{"fix_gamma", flag()}})},
                     {{"act_type", "relu"}}),
                t.shape};
      case 4: {
        static const char* types[] = {"relu", "tanh", "sigmoid", "softrelu"};
        return {make("Activation", {t.symbol}, {{"act_type", types[below(4)]}}), t.shape};
      }
      case 5: return residual(t);
      case 6: return join(t);
      case 7: return pool(t);
      case 8: return {make("_mul_scalar", {t.symbol}, {{"scalar", "0.75"}}), t.shape};
      default: return elementwise(t);
    }
  }

  Tensor convolution(const Tensor& t, bool same_shape = false) {
    Shape out = t.shape;
    const bool strided = !same_shape && t.shape[2] > 2 && below(4) == 0;
    if (!same_shape) out[1] = pick({5, 8, 16, 32});
    if (strided) out[2] = (t.shape[2] - 1) / 2 + 1, out[3] = (t.shape[3] - 1) / 2 + 1;
    const bool pointwise = !strided && below(3) == 0;
    const AttrDict attrs = {{"num_filter", std::to_string(out[1])},
                            {"kernel", pointwise ? "(1, 1)" : "(3, 3)"},
                            {"pad", pointwise ? "(0, 0)" : "(1, 1)"},
                            {"stride", strided ? "(2, 2)" : "(1, 1)"},
                            {"no_bias", flag()}};
    return {make("Convolution", {t.symbol}, attrs), out};
  }
  // What the fusion of a convolution and a sum looks for, with either order of the operands.
  Tensor residual(const Tensor& t) {
    const Tensor c = convolution(t, true);
    return {below(2) == 0 ? c.symbol + t.symbol : t.symbol + c.symbol, t.shape};
  }
  Tensor join(const Tensor& t) {
    for (const Tensor& other : open_) {
      if (other.shape[2] != t.shape[2]) continue;
      Shape out = t.shape;
      out[1] += other.shape[1];
      if (out[1] > 96) break;
      return {make("Concat", {t.symbol, other.symbol}, {{"dim", "1"}}), out};
    }
    return elementwise(t);
  }
  Tensor pool(const Tensor& t) {
    if (t.shape[2] < 2) return elementwise(t);
    Shape out = t.shape;
    out[2] = t.shape[2] / 2, out[3] = t.shape[3] / 2;
    return {make("Pooling", {t.symbol},
                 {{"kernel", "(2, 2)"},
                  {"stride", "(2, 2)"},
                  {"pool_type", below(2) == 0 ? "max" : "avg"}}),
            out};
  }
  Tensor elementwise(const Tensor& t) {
    for (auto it = open_.rbegin(); it != open_.rend(); ++it) {
      if (it->shape == t.shape)
        return {below(3) == 0 ? it->symbol * t.symbol : it->symbol + t.symbol, t.shape};
    }
    return {t.symbol + 0.5, t.shape};
  }
  Symbol classifier(const Symbol& s) {
    const Symbol fc = make("FullyConnected", {make("Flatten", {s})}, {{"num_hidden", "7"}});
    return below(2) == 0 ? make_symbol("SoftmaxOutput", "softmax", std::vector<Symbol>{fc}) : fc;
  }

  std::uint64_t seed_, drawn_ = 0;
  int named_ = 0;
  std::vector<Tensor> open_;
};

bool ends_with(const std::string& s, const char* end) {
  const std::string e = end;
  return s.size() >= e.size() && s.compare(s.size() - e.size(), e.size(), e) == 0;
}

// Sizes keep activations near 1 through the layers.
HostTensor initial(const std::string& name, const Shape& shape) {
  const std::uint64_t seed = formula::seed_of(name);
  if (ends_with(name, "label")) {
    HostTensor t = HostTensor::formula(shape, seed, 0, 7);
    for (double& v : t.values) v = std::floor(v);
    return t;
  }
  if (ends_with(name, "gamma") || ends_with(name, "var"))
    return HostTensor::formula(shape, seed, 0.5, 1.5);
  if (ends_with(name, "weight")) {
    const double fan = static_cast<double>(shape.size()) / static_cast<double>(shape[0]);
    const double bound = std::round(0x1p16 * std::sqrt(3 / fan)) * 0x1p-16;
    return HostTensor::formula(shape, seed, -bound, bound);
  }
  return HostTensor::formula(shape, seed, -1, 1);
}

}  // namespace

RandomGraph random_graph(std::uint64_t seed) { return Drawer(seed).draw(); }

Values train_once(Executor& e, double scale) {
  for (auto& [name, array] : e.arg_dict()) {
    HostTensor t = initial(name, array.shape());
    for (double& v : t.values) v *= name == "data" ? scale : 1;
    NDArray(array).copy_from_host(t.values.data(), DType::kFloat64);
  }
  for (auto& [name, array] : e.aux_dict())
    NDArray(array).copy_from_host(initial(name, array.shape()).values.data(), DType::kFloat64);
  Values found;
  std::vector<NDArray> heads;
  e.forward(true);
  for (const auto& [name, array] : e.output_dict())
    found["output " + name] = HostTensor::from(array);
  for (std::size_t o = 0; o < e.outputs().size(); ++o) {
    const NDArray& out = e.outputs()[o];
    heads.push_back(HostTensor::formula(out.shape(), 900 + o).array(out.dtype(), out.context()));
  }
  e.backward(heads);
  for (const auto& [name, array] : e.grad_dict())
    if (array.defined()) found["gradient " + name] = HostTensor::from(array);
  for (const auto& [name, array] : e.aux_dict()) found["state " + name] = HostTensor::from(array);
  return found;
}

}  // namespace symbind
