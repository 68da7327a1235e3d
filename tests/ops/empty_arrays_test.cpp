// Arrays without elements: what an operator computes from nothing, or that it refuses to.
//
// Where MXNet 1.9.1 answers (in np_shape mode) the numbers are its own: Pad's border, zeros of
// SpatialTransformer and prelu's gamma, NaN of AdaptiveAvgPooling2D, −1 of MultiBoxDetection. Where
// it crashes or refuses they come from the mathematics: a sum over nothing is 0.

#include <cmath>

#include <gtest/gtest.h>

#include <symbind/executor.h>

#include "tests/support/host_tensor.h"

namespace symbind {
namespace {

struct Ran {
  HostTensors out, grads;
};

/// Forward and backward of one operator over inputs a, b, …; gradients held ones before.
Ran run(const std::string& op, const AttrDict& attrs, const HostTensors& inputs) {
  std::vector<Symbol> variables;
  NDArrayMap args, grads;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::string name(1, static_cast<char>('a' + i));
    variables.push_back(Variable(name));
    args[name] = inputs[i].array();
    grads[name] = NDArray::ones(inputs[i].shape);
  }
  Executor e = make_symbol(op, "node", variables, attrs).bind(cpu(), args, {.args_grad = grads});
  e.forward(true);
  Ran ran;
  std::vector<NDArray> heads;
  for (const NDArray& o : e.outputs()) {
    ran.out.push_back(HostTensor::from(o));
    heads.push_back(NDArray::ones(o.shape(), cpu(), o.dtype()));
  }
  e.backward(heads);
  for (const auto& [name, grad] : grads) ran.grads.push_back(HostTensor::from(grad));
  return ran;
}

HostTensor zeros(const Shape& shape) { return HostTensor(shape); }
HostTensor full(const Shape& shape, double value) {
  return {shape, std::vector<double>(static_cast<std::size_t>(shape.size()), value)};
}
HostTensor numbers(const Shape& shape) { return HostTensor::formula(shape, 1); }

void expect_is(const HostTensor& got, const HostTensor& want) {
  EXPECT_EQ(got.shape, want.shape);
  EXPECT_TRUE(near(got, want, {}));
}

void expect_refused(const std::string& op, const AttrDict& attrs, const HostTensors& inputs,
                    const std::string& text) {
  std::string said = "nothing was thrown";
  try {
    run(op, attrs, inputs);
  } catch (const Error& e) {
    said = e.what();
  }
  EXPECT_NE(said.find(text), std::string::npos) << said;
  std::vector<NDArray> arrays;
  for (const HostTensor& t : inputs) arrays.push_back(t.array());
  EXPECT_THROW(invoke(op, arrays, attrs)[0].wait_to_read(), Error);
}

TEST(EmptyArrays, norms_of_no_samples_have_parameter_gradients_of_zero) {
  for (const char* op : {"GroupNorm", "InstanceNorm", "LayerNorm"}) {
    const AttrDict attrs = std::string(op) == "GroupNorm"   ? AttrDict{{"num_groups", "2"}}
                           : std::string(op) == "LayerNorm" ? AttrDict{{"axis", "1"}}
                                                            : AttrDict{};
    const Shape parameter{std::string(op) == "GroupNorm" ? 2 : 4};
    for (const Shape& data : {Shape{0, 4, 3}, Shape{2, 4, 0}}) {
      const Ran ran = run(op, attrs, {zeros(data), full(parameter, 1), zeros(parameter)});
      EXPECT_EQ(ran.out[0].shape, data) << op;
      expect_is(ran.grads[1], zeros(parameter));
      expect_is(ran.grads[2], zeros(parameter));
    }
  }
}

TEST(EmptyArrays, pad_of_nothing_is_its_border) {
  const AttrDict constant = {
      {"mode", "constant"}, {"pad_width", "(0,0,0,0,1,1,1,1)"}, {"constant_value", "2"}};
  expect_is(run("Pad", constant, {zeros({1, 1, 0, 2})}).out[0], full({1, 1, 2, 4}, 2));
  for (const char* mode : {"constant", "edge", "reflect"}) {
    const AttrDict attrs = {{"mode", mode}, {"pad_width", "(0,0,0,0,1,1,1,1)"}};
    EXPECT_EQ(run("Pad", attrs, {zeros({0, 2, 3, 3})}).out[0].shape, (Shape{0, 2, 5, 5})) << mode;
  }
}

TEST(EmptyArrays, pad_has_nothing_to_repeat) {
  expect_refused("Pad", {{"mode", "edge"}, {"pad_width", "(0,0,0,0,1,1,1,1)"}},
                 {zeros({1, 1, 0, 2})}, "edge has nothing to repeat: axis 2 of (1, 1, 0, 2)");
  expect_refused("Pad", {{"mode", "reflect"}, {"pad_width", "(0,0,0,0,1,1,1,1)"}},
                 {zeros({1, 1, 0, 2})}, "reflect needs a border smaller than the extent 0");
}

TEST(EmptyArrays, where_of_nothing_is_nothing) {
  EXPECT_EQ(run("where", {}, {zeros({0, 3}), zeros({0, 3}), zeros({0, 3})}).out[0].shape,
            (Shape{0, 3}));
  EXPECT_EQ(run("where", {}, {full({3}, 1), zeros({3, 0}), zeros({3, 0})}).out[0].shape,
            (Shape{3, 0}));
}

TEST(EmptyArrays, pick_and_batch_take_need_an_element) {
  expect_refused("pick", {{"axis", "1"}}, {zeros({3, 0}), zeros({3})},
                 "there is nothing to pick: axis 1 of (3, 0) has no element");
  const NDArray index = NDArray::zeros({3}, cpu(), DType::kInt32);
  EXPECT_THROW(invoke("batch_take", {NDArray({3, 0}), index})[0].wait_to_read(), Error);
  EXPECT_EQ(run("pick", {{"axis", "1"}}, {zeros({0, 3}), zeros({0})}).out[0].shape, (Shape{0}));
  const NDArray none = NDArray::zeros({0}, cpu(), DType::kInt32);
  EXPECT_EQ(invoke("batch_take", {NDArray({0, 3}), none})[0].shape(), (Shape{0}));
}

TEST(EmptyArrays, sequence_last_needs_a_step) {
  expect_refused("SequenceLast", {}, {zeros({0, 2, 3})},
                 "there is no last step: axis 0 of (0, 2, 3) has no element");
  EXPECT_EQ(run("SequenceLast", {}, {zeros({4, 0, 3})}).out[0].shape, (Shape{0, 3}));
}

TEST(EmptyArrays, ctc_loss_needs_a_class) {
  expect_refused("CTCLoss", {}, {zeros({3, 2, 0}), zeros({2, 2})},
                 "CTCLoss needs a class for the blank, the data has shape (3, 2, 0)");
  EXPECT_EQ(run("CTCLoss", {}, {zeros({3, 0, 4}), zeros({0, 2})}).out[0].shape, (Shape{0}));
}

TEST(EmptyArrays, bilinear_resize_needs_a_pixel) {
  const AttrDict attrs = {{"height", "2"}, {"width", "2"}};
  expect_refused("_contrib_BilinearResize2D", attrs, {zeros({1, 1, 0, 3})},
                 "there is no pixel to interpolate: the images have shape (1, 1, 0, 3)");
  EXPECT_EQ(run("_contrib_BilinearResize2D", attrs, {zeros({0, 1, 3, 3})}).out[0].shape,
            (Shape{0, 1, 2, 2}));
}

TEST(EmptyArrays, spatial_transformer_finds_zeros_outside_an_image_of_no_pixels) {
  const AttrDict attrs = {
      {"target_shape", "(2, 2)"}, {"transform_type", "affine"}, {"sampler_type", "bilinear"}};
  const HostTensor identity({1, 6}, {1, 0, 0, 0, 1, 0});
  const Ran ran = run("SpatialTransformer", attrs, {zeros({1, 1, 0, 3}), identity});
  expect_is(ran.out[0], zeros({1, 1, 2, 2}));
  expect_is(ran.grads[1], zeros({1, 6}));
  const Ran channels = run("SpatialTransformer", attrs, {zeros({1, 0, 3, 3}), identity});
  expect_is(channels.grads[1], zeros({1, 6}));
  EXPECT_EQ(run("SpatialTransformer", attrs, {zeros({0, 1, 3, 3}), zeros({0, 6})}).out[0].shape,
            (Shape{0, 1, 2, 2}));
}

TEST(EmptyArrays, softmax_output_of_no_samples_and_of_no_classes_is_nothing) {
  for (const char* how : {"null", "batch", "valid"}) {
    const AttrDict attrs = {{"normalization", how}};
    EXPECT_EQ(run("SoftmaxOutput", attrs, {zeros({0, 3}), zeros({0})}).out[0].shape, (Shape{0, 3}));
    EXPECT_EQ(run("SoftmaxOutput", attrs, {zeros({2, 0}), zeros({2})}).out[0].shape, (Shape{2, 0}));
    const AttrDict multi = {{"normalization", how}, {"multi_output", "True"}};
    EXPECT_EQ(run("SoftmaxOutput", multi, {zeros({2, 3, 0}), zeros({2, 0})}).out[0].shape,
              (Shape{2, 3, 0}));
  }
}

TEST(EmptyArrays, prelu_of_no_samples_has_a_gamma_gradient_of_zero) {
  const AttrDict attrs = {{"act_type", "prelu"}};
  expect_is(run("LeakyReLU", attrs, {zeros({0, 3}), full({3}, 1)}).grads[1], zeros({3}));
  expect_is(run("LeakyReLU", attrs, {zeros({2, 0, 3}), full({1}, 1)}).grads[1], zeros({1}));
}

TEST(EmptyArrays, dirichlet_density_needs_a_component) {
  expect_refused("_random_pdf_dirichlet", {}, {zeros({2, 3, 0}), zeros({2, 0})},
                 "dirichlet needs a component, alpha has shape (2, 0)");
  EXPECT_EQ(run("_random_pdf_dirichlet", {}, {zeros({0, 3, 2}), zeros({0, 2})}).out[0].shape,
            (Shape{0, 3}));
}

TEST(EmptyArrays, multibox_detection_without_classes_finds_nothing) {
  const auto detect = [](const Shape& classes, const Shape& locations, const Shape& anchors) {
    return HostTensor::from(
        invoke("_contrib_MultiBoxDetection",
               {NDArray::zeros(classes), NDArray::zeros(locations), NDArray::zeros(anchors)})[0]);
  };
  expect_is(detect({2, 0, 3}, {2, 12}, {1, 3, 4}), full({2, 3, 6}, -1));
  EXPECT_EQ(detect({0, 3, 3}, {0, 12}, {1, 3, 4}).shape, (Shape{0, 3, 6}));
  EXPECT_THROW(detect({2, 3, 3}, {2, 12}, {0, 3, 4}), Error);
}

TEST(EmptyArrays, multibox_target_cannot_mine_among_no_classes) {
  const AttrDict mining = {{"negative_mining_ratio", "3"}, {"negative_mining_thresh", "0.5"}};
  const std::vector<NDArray> inputs = {
      HostTensor({1, 2, 4}, {0, 0, 0.5, 0.5, 0.5, 0.5, 1, 1}).array(),
      HostTensor({1, 1, 5}, {0, 0, 0, 0.5, 0.5}).array(), NDArray({1, 0, 2})};
  EXPECT_THROW(invoke("_contrib_MultiBoxTarget", inputs, mining)[0].wait_to_read(), Error);
  // Without mining the predictions are not read: the first anchor is the object's, class 0 + 1.
  const auto targets = invoke("_contrib_MultiBoxTarget", inputs);
  expect_is(HostTensor::from(targets[2]), HostTensor({1, 2}, {1, 0}));
}

TEST(EmptyArrays, adaptive_average_over_no_pixels_is_nan) {
  const AttrDict attrs = {{"output_size", "(2, 2)"}};
  const HostTensor y = run("_contrib_AdaptiveAvgPooling2D", attrs, {zeros({1, 2, 0, 3})}).out[0];
  EXPECT_EQ(y.shape, (Shape{1, 2, 2, 2}));
  for (const double v : y.values) EXPECT_TRUE(std::isnan(v));
  EXPECT_EQ(run("_contrib_AdaptiveAvgPooling2D", attrs, {zeros({0, 2, 3, 3})}).out[0].shape,
            (Shape{0, 2, 2, 2}));
}

TEST(EmptyArrays, multinomial_needs_a_class) {
  expect_refused("_sample_multinomial", {{"shape", "3"}}, {zeros({2, 0})},
                 "there is no class to draw: probabilities have shape (2, 0)");
  EXPECT_EQ(invoke("_sample_multinomial", {NDArray({0, 3})}, {{"shape", "3"}})[0].shape(),
            (Shape{0, 3}));
}

TEST(EmptyArrays, reductions_over_nothing_have_their_neutral_element) {
  const AttrDict rows = {{"axis", "1"}};
  expect_is(run("sum", rows, {zeros({2, 0})}).out[0], zeros({2}));
  expect_is(run("prod", rows, {zeros({2, 0})}).out[0], full({2}, 1));
  const Ran mean = run("mean", rows, {zeros({2, 0})});
  ASSERT_EQ(mean.out[0].size(), 2U);
  for (const double v : mean.out[0].values) EXPECT_TRUE(std::isnan(v));
  expect_is(run("dot", {}, {zeros({2, 0}), zeros({0, 3})}).out[0], zeros({2, 3}));
}

TEST(EmptyArrays, convolution_of_no_channels_is_the_bias) {
  const Ran conv = run("Convolution", {{"kernel", "(2, 2)"}, {"num_filter", "2"}},
                       {zeros({1, 0, 3, 3}), zeros({2, 0, 2, 2}), full({2}, 3)});
  expect_is(conv.out[0], full({1, 2, 2, 2}, 3));
  expect_is(conv.grads[2], full({2}, 4));
  const Ran fc =
      run("FullyConnected", {{"num_hidden", "3"}}, {zeros({2, 0}), zeros({3, 0}), full({3}, 3)});
  expect_is(fc.out[0], full({2, 3}, 3));
  expect_is(fc.grads[2], full({3}, 2));
}

TEST(EmptyArrays, rnn_of_no_samples_has_parameter_gradients_of_zero) {
  const Ran ran = run("RNN", {{"state_size", "2"}, {"num_layers", "1"}, {"mode", "rnn_tanh"}},
                      {zeros({3, 0, 2}), numbers({12}), zeros({1, 0, 2})});
  expect_is(ran.grads[1], zeros({12}));
}

}  // namespace
}  // namespace symbind
