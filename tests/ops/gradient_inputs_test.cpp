// Gradient operators must check their inputs. Every gradient node of the cases' graphs gets inputs
// of wrong shapes, one at a time: inference refuses each shape for which the kernel would read or
// write out of bounds.

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <symbind/autograd.h>

#include "passes/gradient.h"
#include "passes/infer.h"
#include "tests/support/op_run.h"

namespace symbind {
namespace {

using testing::AllOf;
using testing::HasSubstr;

struct GradientNode {
  NodePtr node;
  std::vector<Shape> in;
  std::vector<DType> in_dtypes;
  std::vector<bool> opaque;  ///< bytes that the forward kernel wrote and only its gradient reads
};

std::vector<const Node*> differentiated(const OpCase& c, const Symbol& symbol) {
  const std::vector<std::string> req = all_gradients(c);
  std::vector<const Node*> wanted;
  for (const NodePtr& node : post_order(symbol.heads())) {
    if (!node->is_variable()) continue;
    const std::size_t i = std::stoul(node->name.substr(2));  // in0, in1, …
    if (req.at(i) != "null") wanted.push_back(node.get());
  }
  return wanted;
}

// The nodes of gradient operators, with the shapes and types they get in the case's graph.
std::vector<GradientNode> gradient_nodes(const OpCase& c) {
  const Symbol symbol = case_symbol(c);
  const std::vector<DType> types = input_dtypes(c, c.types().front());
  ShapeMap shapes;
  DTypeMap dtypes;
  for (std::size_t i = 0; i < c.inputs().size(); ++i) {
    shapes["in" + std::to_string(i)] = c.inputs()[i].value.shape;
    dtypes["in" + std::to_string(i)] = types[i];
  }
  const IndexedGraph forward = index_graph(symbol.heads());
  Inferred known = start_inference(forward, shapes, dtypes);
  infer_shape(forward, known);
  infer_dtype(forward, known);

  const GradientGraph backward = gradient(symbol.heads(), differentiated(c, symbol));
  for (std::size_t i = 0; i < backward.head_grads.size(); ++i) {
    if (backward.head_grads[i] == nullptr) continue;
    const auto entry = static_cast<std::size_t>(forward.entry(symbol.heads()[i]));
    shapes[backward.head_grads[i]->name] = known.shapes[entry];
    dtypes[backward.head_grads[i]->name] = known.dtypes[entry];
  }
  NodeEntries heads;
  for (const NodeEntry& g : backward.gradients)
    if (g) heads.push_back(g);
  const IndexedGraph graph = index_graph(heads);
  known = start_inference(graph, shapes, dtypes);
  infer_shape(graph, known);
  infer_dtype(graph, known);
  std::vector<GradientNode> found;
  for (const IndexedNode& n : graph.nodes) {
    if (n.node->is_variable() || !n.node->op->is_backward || n.node->op->runs_user_code) continue;
    GradientNode g{.node = n.node, .in = {}, .in_dtypes = {}, .opaque = {}};
    for (const int e : n.inputs) {
      g.opaque.push_back(known.opaque[static_cast<std::size_t>(e)]);
      g.in.push_back(known.shapes[static_cast<std::size_t>(e)]);
      g.in_dtypes.push_back(known.dtypes[static_cast<std::size_t>(e)]);
    }
    found.push_back(std::move(g));
  }
  return found;
}

bool is_refused(const GradientNode& g) {
  std::vector<Shape> in = g.in,
                     out(static_cast<std::size_t>(g.node->num_outputs()), Shape::unknown());
  std::vector<DType> in_dtypes = g.in_dtypes, out_dtypes(out.size(), DType::kUnknown);
  Inference io(in, out, in_dtypes, out_dtypes);
  try {
    for (int round = 0; round < 2; ++round) g.node->op->infer(g.node->parsed.get(), io);
  } catch (const Inference::Conflict&) {
    return true;
  } catch (const Error&) {
    return true;
  }
  return false;
}

// Whether the forward operator could have had these shapes around it: where the gradient's kernel
// gets another extent than in the case, its forward may have had that one too (a larger image that
// a stride skips, a longer axis that is summed). Inputs the gradient does not get may be anything;
// a head gradient has the shape of one of the outputs.
bool forward_agrees(const GradientNode& g) {
  const NodePtr& forward = g.node->forward_node;
  std::vector<Shape> in(forward->inputs.size(), Shape::unknown()),
      out(static_cast<std::size_t>(forward->num_outputs()), Shape::unknown());
  std::vector<Shape> heads;
  for (std::size_t i = 0; i < g.in.size(); ++i) {
    const NodeEntry& e = g.node->inputs[i];
    bool found = false;
    for (std::size_t k = 0; k < in.size(); ++k) {
      if (forward->inputs[k] != e) continue;
      found = true;
      if (!merge(in[k], g.in[i])) return false;
    }
    if (e.node == forward) {
      found = true;
      if (!merge(out[static_cast<std::size_t>(e.index)], g.in[i])) return false;
    }
    if (found) continue;
    heads.push_back(g.in[i]);
  }
  std::vector<DType> in_dtypes(in.size(), DType::kUnknown), out_dtypes(out.size(), DType::kUnknown);
  Inference io(in, out, in_dtypes, out_dtypes);
  try {
    for (int round = 0; round < 2; ++round) forward->op->infer(forward->parsed.get(), io);
  } catch (const Inference::Conflict&) {
    return false;
  } catch (const Error&) {
    return false;
  }
  return std::ranges::all_of(heads, [&](const Shape& head) {
    return std::ranges::any_of(out, [&](Shape shape) { return merge(shape, head); });
  });
}

// They are also used between other nodes of a gradient, where no forward node has their shapes.
// What they take follows here.
const std::set<std::string> kBetween = {"_sum_like", "_backward_linalg_triangle",
                                        "_backward_BilinearSampler"};

bool takes(const char* op, const std::vector<Shape>& in) {
  const NodeEntries inputs(in.size(), NodeEntry{make_variable("x"), 0});
  return !is_refused({.node = make_node(any_operator(op), "n", {}, inputs),
                      .in = in,
                      .in_dtypes = std::vector<DType>(in.size(), DType::kFloat32),
                      .opaque = {}});
}

TEST(BadInputGradients, shapes_between_the_nodes_of_a_gradient) {
  EXPECT_TRUE(takes("_sum_like", {{3, 2}, {3, 2}}));
  EXPECT_TRUE(takes("_sum_like", {{3, 2}, {1, 2}}));
  EXPECT_TRUE(takes("_sum_like", {{4, 3, 2}, {2}}));
  EXPECT_FALSE(takes("_sum_like", {{3, 2}, {2, 2}}));
  EXPECT_FALSE(takes("_sum_like", {{3, 1}, {3, 2}}));
  EXPECT_FALSE(takes("_sum_like", {{6}, {3, 2}}));
  EXPECT_TRUE(takes("_backward_BilinearSampler", {{1, 2, 5, 6}, {1, 2, 3, 4}, {1, 2, 5, 6}}));
  EXPECT_FALSE(takes("_backward_BilinearSampler", {{1, 2, 5, 6}, {1, 2, 3, 4}, {1, 2, 5, 7}}));
  EXPECT_FALSE(takes("_backward_BilinearSampler", {{1, 2, 5, 6}, {1, 3, 3, 4}, {1, 2, 5, 6}}));
  EXPECT_FALSE(takes("_backward_BilinearSampler", {{1, 2, 5, 6}, {1, 2, 3, 4}, {1, 1, 5, 6}}));
}

TEST(BadInputGradients, shapes_of_every_input_are_tied_to_the_others) {
  std::map<std::string, std::set<std::string>> loose;
  std::set<std::string> seen;
  int refused = 0, tried = 0;
  for_every_case([&](const OpCase& c) {
    if (c.error() || c.is_imperative() || c.inputs().empty()) return;
    for (const GradientNode& valid : gradient_nodes(c)) {
      const std::string& op = valid.node->op->name;
      seen.insert(op);
      EXPECT_FALSE(is_refused(valid)) << op << " of the case " << c.op() << ": " << c.name();
      const std::vector<std::string> names = valid.node->input_names();
      for (std::size_t i = 0; i < valid.in.size(); ++i) {
        if (valid.opaque[i]) continue;
        for (int axis = 0; axis < valid.in[i].rank(); ++axis) {
          for (const int change : {1, -1}) {
            GradientNode changed = valid;
            changed.in[i][axis] += change;
            if (changed.in[i][axis] < 0) continue;
            ++tried;
            if (is_refused(changed)) {
              ++refused;
            } else if (!kBetween.contains(op) && !forward_agrees(changed)) {
              loose[op].insert(fmt::format("{} of {}: {} {} instead of {}", c.op(), c.name(),
                                           names.at(i), changed.in[i].str(), valid.in[i].str()));
            }
          }
        }
      }
    }
  });
  EXPECT_GT(seen.size(), 100U);
  EXPECT_GT(refused, tried / 2);
  std::string text;
  for (const auto& [op, cases] : loose) text += fmt::format("\n  {} {}", op, *cases.begin());
  EXPECT_EQ(text, "") << "shapes that do not fit together are taken";
}

// ---- indices that users may have changed between forward and backward

std::string error_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::kIndex) << e.what();
    return e.what();
  }
  return "no error";
}

// Forward, output 1 (the indices) overwritten, backward; the gradient as it is then read.
NDArray gradient_after(const Symbol& symbol, const Shape& data, int index_output, double index,
                       double probability = 0.25) {
  Executor bound = symbol.simple_bind(cpu(), {{"x", data}});
  bound.arg_dict().at("x").set(probability);
  bound.forward(true);
  NDArray indices = bound.outputs().at(static_cast<std::size_t>(index_output));
  indices.set(index);
  std::vector<NDArray> heads;
  for (const NDArray& out : bound.outputs())
    heads.push_back(NDArray::ones(out.shape(), cpu(), out.dtype()));
  bound.backward(heads);
  NDArray gradient = bound.grad_dict().at("x");
  gradient.wait_to_read();
  return gradient;
}

TEST(BadInputGradients, overwritten_indices_of_topk_are_an_error) {
  const Symbol x = Variable("x");
  for (const char* dtype : {"float32", "float64", "int32", "int64", "uint8"}) {
    const Symbol top =
        make_symbol("topk", "top", {x}, {{"ret_typ", "both"}, {"k", "2"}, {"dtype", dtype}});
    // The last index counts: every row gets its two heads at place 4, the later one stays.
    EXPECT_EQ(HostTensor::from(gradient_after(top, {2, 5}, 1, 4)).values,
              (std::vector<double>{0, 0, 0, 0, 1, 0, 0, 0, 0, 1}));
    EXPECT_THAT(error_of([&] {
                  gradient_after(top, {2, 5}, 1, 5);
                }),
                AllOf(HasSubstr("index 5 is out of range for extent 5"), HasSubstr("top")));
  }
  const Symbol top = make_symbol("topk", "top", {x}, {{"ret_typ", "both"}, {"k", "2"}});
  for (const double index : {-1.0, 1e9, -1e30, std::nan(""), HUGE_VAL})
    EXPECT_THAT(error_of([&] {
                  gradient_after(top, {2, 5}, 1, index);
                }),
                HasSubstr("is out of range for extent 5"));
}

TEST(BadInputGradients, overwritten_classes_of_sample_multinomial_are_an_error) {
  const Symbol x = Variable("x");
  for (const char* dtype : {"float32", "int32", "uint8"}) {
    const Symbol drawn = make_symbol("_sample_multinomial", "drawn", {x},
                                     {{"get_prob", "True"}, {"shape", "2"}, {"dtype", dtype}});
    // d log(p) = 1 / p, for each of two draws of class 3.
    EXPECT_EQ(HostTensor::from(gradient_after(drawn, {4}, 0, 3)).values,
              (std::vector<double>{0, 0, 0, 8}));
    EXPECT_THAT(error_of([&] { gradient_after(drawn, {4}, 0, 4); }),
                AllOf(HasSubstr("index 4 is out of range for extent 4"), HasSubstr("drawn")));
  }
  const Symbol drawn = make_symbol("_sample_multinomial", "drawn", {x}, {{"get_prob", "True"}});
  EXPECT_THAT(error_of([&] { gradient_after(drawn, {4}, 0, -7); }), HasSubstr("index -7"));
}

TEST(BadInputGradients, overwritten_indices_are_an_error_under_autograd) {
  NDArray x = NDArray::ones({2, 5});
  x.attach_grad();
  std::vector<NDArray> y;
  {
    const autograd::Scope recording(true, true);
    y = invoke("topk", {x}, {{"ret_typ", "both"}, {"k", "2"}});
  }
  y[1].set(77);
  EXPECT_THAT(error_of([&] {
                autograd::backward({y[0]});
                x.grad().wait_to_read();
              }),
              HasSubstr("index 77 is out of range for extent 5"));
}

// Hidden outputs no user can reach: the kernels check them all the same.
TEST(BadInputGradients, kernels_check_places_they_write_to) {
  const auto run = [](const char* op, const std::vector<NDArray>& inputs, const AttrDict& attrs) {
    return error_of([&] { invoke(any_operator(op), inputs, attrs).front().wait_to_read(); });
  };
  const auto filled = [](const Shape& shape, double value, DType dtype = DType::kFloat32) {
    NDArray made = NDArray::zeros(shape, cpu(), dtype);
    made.set(value);
    return made;
  };
  const AttrDict pooling = {{"pooled_size", "(1, 1)"}, {"spatial_scale", "1"}};
  const NDArray image = filled({1, 1, 2, 2}, 0), one = filled({1, 1, 1, 1}, 1);
  EXPECT_EQ(
      run("_backward_ROIPooling", {one, filled({1, 1, 1, 1}, 3, DType::kInt64), image}, pooling),
      "no error");
  EXPECT_THAT(
      run("_backward_ROIPooling", {one, filled({1, 1, 1, 1}, 4, DType::kInt64), image}, pooling),
      HasSubstr("index 4 is out of range for extent 4"));
  const NDArray rows = filled({3, 6}, 1);
  EXPECT_EQ(run("_backward_contrib_box_nms", {rows, filled({3, 1}, 2, DType::kInt64)}, {}),
            "no error");
  EXPECT_THAT(run("_backward_contrib_box_nms", {rows, filled({3, 1}, 3, DType::kInt64)}, {}),
              HasSubstr("index 3 is out of range for extent 3"));
}

TEST(BadInputGradients, head_gradients_of_another_shape_or_number_are_refused) {
  Executor bound = make_symbol("_mul_scalar", "y", {Variable("x")}, {{"scalar", "3"}})
                       .simple_bind(cpu(), {{"x", Shape{2, 3}}});
  NDArray x = NDArray::ones({2, 3});
  x.attach_grad();
  NDArray y;
  {
    const autograd::Record recording;
    y = invoke("_mul_scalar", {x}, {{"scalar", "3"}}).front();
  }
  const NDArray right = NDArray::ones({2, 3}, cpu(), DType::kFloat64);
  for (const Shape& shape : {Shape{1}, Shape{6}, Shape{3, 2}, Shape{2, 3, 1}, Shape{0}}) {
    const NDArray wrong = NDArray::ones(shape);
    bound.forward(true);
    EXPECT_THROW(bound.backward({wrong}), Error) << shape.str();
    EXPECT_THROW(autograd::backward({y}, {.head_grads = {wrong}}), Error) << shape.str();
  }
  bound.forward(true);
  EXPECT_THROW(bound.backward(std::vector<NDArray>{right, right}), Error);
  EXPECT_THROW(autograd::backward({y}, {.head_grads = {right, right}}), Error);
  bound.backward({right});  // another type is converted
  EXPECT_EQ(HostTensor::from(bound.grad_dict().at("x")).values, std::vector<double>(6, 3));
  autograd::backward({y}, {.head_grads = {right}});
  EXPECT_EQ(HostTensor::from(x.grad()).values, std::vector<double>(6, 3));
}

TEST(BadInputGradients, a_vector_with_one_label_has_no_classes) {
  const Symbol loss = make_symbol("SoftmaxOutput", "loss", {Variable("x"), Variable("label")});
  const auto message = [&](const Shape& data, const Shape& label) {
    try {
      loss.simple_bind(cpu(), {{"x", data}, {"label", label}});
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::kShape);
      return std::string(e.what());
    }
    return std::string("bound");
  };
  EXPECT_THAT(message({5}, {1}), HasSubstr("takes data (batch, classes)"));
  EXPECT_THAT(message({5}, {2}), HasSubstr("takes data (batch, classes)"));
  EXPECT_THAT(message({5, 3}, {1}), HasSubstr("loss"));
  EXPECT_THAT(message({5, 3}, {4}), HasSubstr("loss"));
  EXPECT_EQ(message({5}, {5}), "bound");
  EXPECT_EQ(message({1}, {1}), "bound");
  EXPECT_EQ(message({5, 3}, {5}), "bound");
  EXPECT_EQ(message({5, 3}, {5, 3}), "bound");
}

}  // namespace
}  // namespace symbind
