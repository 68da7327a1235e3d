// Custom operators registered from C++: the harness over one with two inputs, two outputs and an
// attribute; states, losses and errors by hand.

#include <symbind/custom.h>

#include <functional>
#include <thread>

#include <gtest/gtest.h>
#include <symbind/executor.h>

#include "base/check.h"
#include "tests/support/op_case.h"

namespace symbind {
namespace {

/// A description made of functions, so that a test reads from top to bottom.
struct Sketch {
  std::vector<std::string> inputs{"data"}, outputs{"output"}, aux;
  std::function<void(CustomForward&)> forward;
  std::function<void(CustomBackward&)> backward;
  std::function<CustomShapes(const std::vector<Shape>&)> infer_shape;
  bool needs_head = true;
  std::vector<int> reads;  ///< empty: the default
  std::function<void(Context, const std::vector<Shape>&, const std::vector<DType>&)> on_create;
};

class SketchKernel : public CustomKernel {
 public:
  explicit SketchKernel(Sketch sketch) : sketch_(std::move(sketch)) {}
  void forward(CustomForward call) override { sketch_.forward(call); }
  void backward(CustomBackward call) override {
    if (!sketch_.backward) return CustomKernel::backward(std::move(call));
    sketch_.backward(call);
  }

 private:
  Sketch sketch_;
};

class SketchOp : public CustomOpDescription {
 public:
  explicit SketchOp(Sketch sketch) : sketch_(std::move(sketch)) {}
  std::vector<std::string> inputs() const override { return sketch_.inputs; }
  std::vector<std::string> outputs() const override { return sketch_.outputs; }
  std::vector<std::string> aux() const override { return sketch_.aux; }
  CustomShapes infer_shape(const std::vector<Shape>& in) const override {
    return sketch_.infer_shape ? sketch_.infer_shape(in) : CustomOpDescription::infer_shape(in);
  }
  bool needs_head_gradient() const override { return sketch_.needs_head; }
  std::vector<int> backward_reads() const override {
    return sketch_.reads.empty() ? CustomOpDescription::backward_reads() : sketch_.reads;
  }
  std::shared_ptr<CustomKernel> create(Context context, const std::vector<Shape>& shapes,
                                       const std::vector<DType>& dtypes) const override {
    if (sketch_.on_create) sketch_.on_create(context, shapes, dtypes);
    return std::make_shared<SketchKernel>(sketch_);
  }

 private:
  Sketch sketch_;
};

void add(const std::string& op_type, const Sketch& sketch) {
  register_custom(op_type,
                  [sketch](const AttrDict&) { return std::make_shared<SketchOp>(sketch); });
}

Symbol custom(const std::string& op_type, const std::vector<Symbol>& inputs, AttrDict attrs = {}) {
  attrs["op_type"] = op_type;
  return make_symbol("Custom", "c", inputs, attrs);
}

using Floats = std::vector<float>;

Error caught(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return e;
  }
  return {ErrorKind::kState, "no error"};
}

void says(const Error& error, ErrorKind kind, const std::string& part) {
  EXPECT_EQ(std::string(kind_name(error.kind())), kind_name(kind)) << error.what();
  EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
}

// product = scale · a · b, difference = a − b.
Sketch product_and_difference(double scale) {
  return {.inputs = {"a", "b"},
          .outputs = {"product", "difference"},
          .aux = {},
          .forward =
              [=](CustomForward& c) {
                store(c.out[0], c.req[0], c.in[0] * c.in[1] * scale);
                store(c.out[1], c.req[1], c.in[0] - c.in[1]);
              },
          .backward =
              [=](CustomBackward& c) {
                store(c.in_grad[0], c.req[0], c.out_grad[0] * c.in[1] * scale + c.out_grad[1]);
                store(c.in_grad[1], c.req[1], c.out_grad[0] * c.in[0] * scale - c.out_grad[1]);
              },
          .infer_shape = [](const std::vector<Shape>& in) -> CustomShapes {
            Shape common = in[0];
            check(merge(common, in[1]), ErrorKind::kShape, "the inputs' shapes differ");
            return {{common, common}, {common, common}, {}};
          },
          .needs_head = true,
          .reads = {},
          .on_create = {}};
}

OP_CASES(Custom) {
  register_custom("test_product", [](const AttrDict& rest) {
    return std::make_shared<SketchOp>(product_and_difference(std::stod(rest.at("scale"))));
  });
  for (const double scale : {1.0, -2.5}) {
    c.add("product and difference, scale " + std::to_string(scale))
        .attr("op_type", "test_product")
        .attr("scale", scale)
        .in({2, 3})
        .in({2, 3})
        .recovers({1})
        .ref([=](const HostTensors& in) {
          HostTensor product(in[0].shape), difference(in[0].shape);
          for (std::size_t i = 0; i < product.size(); ++i) {
            product[i] = scale * in[0][i] * in[1][i];
            difference[i] = in[0][i] - in[1][i];
          }
          return HostTensors{product, difference};
        });
  }
  // Keeps the sum of the squares it has seen; what comes out does not depend on it.
  register_custom("test_counting", [](const AttrDict&) {
    Sketch s;
    s.aux = {"seen"};
    s.forward = [](CustomForward& call) {
      store(call.out[0], call.req[0], call.in[0] * call.in[0]);
      call.aux[0] += call.in[0] * call.in[0];
    };
    s.backward = [](CustomBackward& call) {
      store(call.in_grad[0], call.req[0], call.out_grad[0] * call.in[0] * 2);
    };
    return std::make_shared<SketchOp>(s);
  });
  c.add("with an auxiliary state")
      .attr("op_type", "test_counting")
      .in({2, 2}, {1, 2, 3, 0.5})
      .in({2, 2}, {10, 0, 0, 0})
      .ref([](const HostTensors& in) {
        HostTensor y(in[0].shape), seen(in[0].shape);
        for (std::size_t i = 0; i < y.size(); ++i) {
          y[i] = in[0][i] * in[0][i];
          seen[i] = in[1][i] + y[i];
        }
        return HostTensors{y, seen};
      });
  c.add("not registered")
      .attr("op_type", "test_produkt")
      .in({2})
      .raises("Cannot find custom operator test_produkt; did you mean 'test_product'");
  c.add("without a type").in({2}).raises("op_type is required");
}

TEST(Custom, names_aux_and_json) {
  Sketch s = product_and_difference(1);
  s.aux = {"seen"};
  add("test_names", s);
  const Symbol y = custom("test_names", {Variable("x")}, {{"extra", "(1, 2)"}});
  EXPECT_EQ(y.list_arguments(), (std::vector<std::string>{"x", "c_b"}));
  EXPECT_EQ(y.list_auxiliary_states(), std::vector<std::string>{"c_seen"});
  EXPECT_EQ(y.list_outputs(), (std::vector<std::string>{"c_product", "c_difference"}));
  EXPECT_EQ(y.attr_dict().at("c"), (AttrDict{{"extra", "(1, 2)"}, {"op_type", "test_names"}}));
  const std::string json = y.tojson();
  EXPECT_NE(json.find("\"node_row_ptr\": [0, 1, 2, 3, 5]"), std::string::npos) << json;
  EXPECT_EQ(Symbol::load_json(json).tojson(), json);
}

TEST(Custom, gets_context_shapes_and_dtypes) {
  std::vector<Shape> shapes;
  std::vector<DType> dtypes;
  Context context;
  Sketch s;
  s.aux = {"state"};
  s.forward = [](CustomForward&) {};
  s.on_create = [&](Context where, const std::vector<Shape>& in, const std::vector<DType>& types) {
    context = where;
    shapes = in;
    dtypes = types;
  };
  add("test_create", s);
  custom("test_create", {Variable("x")})
      .simple_bind(cpu(1), {{"x", Shape{2, 3}}}, {.types = {{"x", DType::kFloat64}}});
  EXPECT_EQ(context.str(), "cpu(1)");
  EXPECT_EQ(shapes, (std::vector<Shape>{{2, 3}, {2, 3}}));
  EXPECT_EQ(dtypes, (std::vector<DType>{DType::kFloat64, DType::kFloat64}));
}

// What an output does not get is 0; what is kept stays as it was.
TEST(Custom, arrays_belong_to_the_call) {
  std::vector<NDArray> kept;
  Sketch s;
  s.outputs = {"written", "left"};
  s.forward = [&](CustomForward& c) {
    kept.push_back(c.in[0]);
    c.out[0].set(c.in[0]);
    c.in[0].set(-1);  // a copy: no effect outside
  };
  add("test_keeps", s);
  const NDArray x({1, 2}, Shape{2});
  const std::vector<NDArray> y = invoke("Custom", {x}, {{"op_type", "test_keeps"}});
  EXPECT_EQ(y[0].to_vector<float>(), (Floats{1, 2}));
  EXPECT_EQ(y[1].to_vector<float>(), (Floats{0, 0}));
  EXPECT_EQ(x.to_vector<float>(), (Floats{1, 2}));
  invoke("Custom", {NDArray({3, 4}, Shape{2})}, {{"op_type", "test_keeps"}});
  EXPECT_EQ(kept[0].to_vector<float>(), (Floats{-1, -1}));
}

TEST(Custom, backward_writes_aux_too) {
  Sketch s;
  s.aux = {"calls"};
  s.forward = [](CustomForward& c) { c.aux[0] += c.is_train ? 1 : 10; };
  s.backward = [](CustomBackward& c) { c.aux[0] += 100; };
  add("test_calls", s);
  Executor e = custom("test_calls", {Variable("x")}).simple_bind(cpu(), {{"x", Shape{1}}});
  e.forward(true);
  e.backward(std::vector<NDArray>{NDArray({1}, Shape{1})});
  e.forward(false);
  EXPECT_EQ(e.aux_dict().at("c_calls").to_vector<float>(), Floats{111});
}

class MemoryKernel : public CustomKernel {
 public:
  void forward(CustomForward call) override { last_ = call.in[0].scalar(); }
  void backward(CustomBackward call) override { call.in_grad[0].set(last_); }

 private:
  double last_ = 0;
};
class MemoryOp : public CustomOpDescription {
 public:
  std::shared_ptr<CustomKernel> create(Context, const std::vector<Shape>&,
                                       const std::vector<DType>&) const override {
    return std::make_shared<MemoryKernel>();
  }
};

// Forward and backward of one executor are one object, two executors are two.
TEST(Custom, state_is_the_executors) {
  register_custom("test_memory", [](const AttrDict&) { return std::make_shared<MemoryOp>(); });
  const Symbol y = custom("test_memory", {Variable("x")});
  Executor a = y.simple_bind(cpu(), {{"x", Shape{1}}}), b = y.simple_bind(cpu(), {{"x", Shape{1}}});
  const NDArray head({1}, Shape{1});
  a.forward(true, {{"x", NDArray({5}, Shape{1})}});
  b.forward(true, {{"x", NDArray({7}, Shape{1})}});
  a.backward(std::vector<NDArray>{head});
  b.backward(std::vector<NDArray>{head});
  EXPECT_EQ(a.grad_dict().at("x").scalar(), 5);
  EXPECT_EQ(b.grad_dict().at("x").scalar(), 7);
}

TEST(Custom, a_loss_needs_no_head_gradient) {
  for (const bool needs : {false, true}) {
    Sketch s;
    s.needs_head = needs;
    s.forward = [](CustomForward& c) { c.out[0].set(c.in[0]); };
    s.backward = [=](CustomBackward& c) {
      EXPECT_EQ(c.out_grad[0].defined(), needs);
      c.in_grad[0].set(c.in[0] * 3);
    };
    add("test_loss", s);
    Executor e = custom("test_loss", {Variable("x")}).simple_bind(cpu(), {{"x", Shape{2}}});
    e.forward(true, {{"x", NDArray({1, 2}, Shape{2})}});
    if (needs) {
      EXPECT_THROW(e.backward(), Error);
      continue;
    }
    e.backward();
    EXPECT_EQ(e.grad_dict().at("x").to_vector<float>(), (Floats{3, 6}));
  }
}

// MXNet's does so too.
TEST(Custom, runs_its_gradient_under_block_grad) {
  Sketch s;
  s.forward = [](CustomForward& c) { c.out[0].set(c.in[0]); };
  s.backward = [](CustomBackward& c) { c.in_grad[0].set(c.out_grad[0] + 3); };
  add("test_blocked", s);
  const Symbol y =
      make_symbol("BlockGrad", "block", std::vector{custom("test_blocked", {Variable("x")})});
  Executor e = y.simple_bind(cpu(), {{"x", Shape{2}}});
  e.forward(true);
  e.backward();
  EXPECT_EQ(e.grad_dict().at("x").to_vector<float>(), (Floats{3, 3}));
}

// Only the second input and nothing else is read: the first need not live, and is not given.
TEST(Custom, backward_gets_what_it_reads) {
  Sketch s = product_and_difference(1);
  s.outputs = {"output"};
  s.infer_shape = [](const std::vector<Shape>& in) -> CustomShapes {
    return {{in[0], in[0]}, {in[0]}, {}};
  };
  s.forward = [](CustomForward& c) { c.out[0].set(c.in[0] * c.in[1]); };
  s.backward = [](CustomBackward& c) {
    EXPECT_FALSE(c.out_grad[0].defined() || c.in[0].defined() || c.out[0].defined());
    c.in_grad[0].set(c.in[1] * 2);
    c.in_grad[1].set(c.in[1] * 4);
  };
  s.reads = {2};  // gradient of the output 0, inputs 1 and 2, output 3
  add("test_reads", s);
  Executor e =
      custom("test_reads", {Variable("a"), Variable("b")}).simple_bind(cpu(), {{"a", Shape{1}}});
  e.forward(true, {{"a", NDArray({2}, Shape{1})}, {"b", NDArray({5}, Shape{1})}});
  e.backward();
  EXPECT_EQ(e.grad_dict().at("a").scalar(), 10);
  EXPECT_EQ(e.grad_dict().at("b").scalar(), 20);
  s.reads = {4};
  add("test_reads", s);
  says(caught([] { custom("test_reads", {Variable("a")}); }), ErrorKind::kIndex,
       "its backward reads array 4, there are 4");
}

TEST(Custom, unwanted_gradients_are_null) {
  std::vector<StoreReq> seen;
  Sketch s = product_and_difference(1);
  s.backward = [&](CustomBackward& c) { seen = c.req; };
  add("test_reqs", s);
  Executor e = custom("test_reqs", {Variable("a"), Variable("b")})
                   .simple_bind(cpu(), {{"a", Shape{1}}},
                                {.grad_req = std::map<std::string, std::string>{{"b", "add"}}});
  e.forward(true);
  const NDArray head({1}, Shape{1});
  e.backward(std::vector<NDArray>{head, head});
  EXPECT_EQ(seen, (std::vector{StoreReq::kNull, StoreReq::kWrite}));
  NDArray to({1, 2}, Shape{2});
  store(to, StoreReq::kAdd, NDArray({10, 20}, Shape{2}));
  EXPECT_EQ(to.to_vector<float>(), (Floats{11, 22}));
  store(to, StoreReq::kNull, NDArray({5, 5}, Shape{2}));
  EXPECT_EQ(to.to_vector<float>(), (Floats{11, 22}));
  store(to, StoreReq::kInplace, NDArray({5, 6}, Shape{2}));
  EXPECT_EQ(to.to_vector<float>(), (Floats{5, 6}));
}

TEST(Custom, errors_wait_on_the_outputs) {
  Sketch s;
  s.aux = {"state"};
  s.forward = [](CustomForward& c) {
    if (c.in[0].scalar() < 0) throw std::runtime_error("negative");
    c.out[0].set(c.in[0]);
  };
  add("test_fails", s);
  Executor e = custom("test_fails", {Variable("x")}).simple_bind(cpu(), {{"x", Shape{1}}});
  e.forward(true, {{"x", NDArray({-1}, Shape{1})}});
  says(caught([&] { e.outputs()[0].wait_to_read(); }), ErrorKind::kState,
       "negative\nin Custom 'c'");
  e.forward(true, {{"x", NDArray({4}, Shape{1})}});
  EXPECT_EQ(e.outputs()[0].scalar(), 4);
  e.backward(std::vector<NDArray>{NDArray({1}, Shape{1})});
  says(caught([&] { e.grad_dict().at("x").wait_to_read(); }), ErrorKind::kNotImplemented,
       "this custom operator has no backward");
  const std::vector<NDArray> y = invoke("Custom", {NDArray({-1}, Shape{1}), NDArray({0}, Shape{1})},
                                        {{"op_type", "test_fails"}});
  says(caught([&] { y[0].wait_to_read(); }), ErrorKind::kState, "negative\nin Custom");
}

// An operator called inside failed and its result was not read.
TEST(Custom, errors_inside_are_its_own) {
  Sketch broken, s;
  broken.forward = [](CustomForward&) { throw Error(ErrorKind::kValue, "inside"); };
  add("test_inner", broken);
  s.forward = [](CustomForward& c) {
    c.out[0].set(invoke("Custom", {c.in[0]}, {{"op_type", "test_inner"}})[0]);
  };
  add("test_outer", s);
  const std::vector<NDArray> y =
      invoke("Custom", {NDArray({1}, Shape{1})}, {{"op_type", "test_outer"}});
  says(caught([&] { y[0].wait_to_read(); }), ErrorKind::kValue, "inside");
  waitall();  // it was read: nothing is left
}

TEST(Custom, wrong_descriptions_are_errors) {
  Sketch s = product_and_difference(1);
  s.infer_shape = [](const std::vector<Shape>& in) -> CustomShapes { return {in, {in[0]}, {}}; };
  add("test_wrong", s);
  const Symbol y = custom("test_wrong", {Variable("a"), Variable("b")});
  says(caught([&] {
         y.infer_shape({{"a", Shape{2}}});
       }),
       ErrorKind::kValue,
       "Custom operator 'test_wrong': infer_shape returned 1 entries for 2 outputs");
  s.infer_shape = [](const std::vector<Shape>&) -> CustomShapes {
    return {{{2}, {3}}, {{2}, {2}}, {}};
  };
  add("test_wrong", s);
  const Symbol z = custom("test_wrong", {Variable("a"), Variable("b")});
  says(caught([&] {
         z.infer_shape({{"a", Shape{2}}, {"b", Shape{2}}});
       }),
       ErrorKind::kShape, "infer_shape of custom operator 'test_wrong' says so");
  s.outputs = {};
  add("test_wrong", s);
  EXPECT_THROW(custom("test_wrong", {}), Error);
}

// The old symbol keeps what it was made of.
TEST(Custom, registering_again) {
  const auto factor = [](double by) {
    Sketch s;
    s.forward = [=](CustomForward& c) { c.out[0].set(c.in[0] * by); };
    return s;
  };
  const NDArray x({1}, Shape{1});
  add("test_again", factor(2));
  const Symbol old = custom("test_again", {Variable("x")});
  EXPECT_EQ(invoke("Custom", {x}, {{"op_type", "test_again"}})[0].scalar(), 2);
  add("test_again", factor(3));
  EXPECT_EQ(invoke("Custom", {x}, {{"op_type", "test_again"}})[0].scalar(), 3);
  Executor e = old.simple_bind(cpu(), {{"x", Shape{1}}});
  EXPECT_EQ(e.forward(false, {{"x", x}})[0].scalar(), 2);
}

TEST(Custom, without_inputs) {
  Sketch s;
  s.inputs = {};
  s.infer_shape = [](const std::vector<Shape>&) -> CustomShapes { return {{}, {{2, 2}}, {}}; };
  s.forward = [](CustomForward& c) { c.out[0].set(7); };
  add("test_source", s);
  EXPECT_EQ(invoke("Custom", {}, {{"op_type", "test_source"}})[0].to_vector<float>(),
            (Floats{7, 7, 7, 7}));
  Executor e = custom("test_source", {}).simple_bind(cpu(), {});
  EXPECT_EQ(e.forward()[0].shape(), (Shape{2, 2}));
}

TEST(Custom, executors_in_several_threads) {
  Sketch s;
  s.forward = [](CustomForward& c) { c.out[0].set(c.in[0] + c.in[0]); };
  s.backward = [](CustomBackward& c) { c.in_grad[0].set(c.out_grad[0] * 2); };
  add("test_threads", s);
  const Symbol y = custom("test_threads", {Variable("x")});
  std::vector<double> results(4, 0);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < results.size(); ++t) {
    threads.emplace_back([&, t] {
      Executor e = y.simple_bind(cpu(), {{"x", Shape{1}}});
      for (int i = 0; i < 50; ++i) {
        e.forward(true, {{"x", NDArray({static_cast<float>(t)}, Shape{1})}});
        e.backward(std::vector<NDArray>{NDArray({1}, Shape{1})});
        results[t] += e.outputs()[0].scalar() + e.grad_dict().at("x").scalar();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(results, (std::vector<double>{100, 200, 300, 400}));
}

}  // namespace
}  // namespace symbind
