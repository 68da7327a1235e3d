// Mistakes 1 to 20 of docs/mistakes.md, and what each message must contain. After each mistake a
// correct call works.

#include <functional>

#include <gtest/gtest.h>

#include <symbind/executor.h>

#include "base/settings.h"
#include "support/capture_log.h"

namespace symbind {
namespace {

using Inputs = std::vector<Symbol>;

struct Caught {
  ErrorKind kind = ErrorKind::kState;
  std::string text = "no error";
};

Caught caught(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return {e.kind(), e.what()};
  }
  return {};
}

// The message must contain every part.
void says(const Caught& c, ErrorKind kind, const std::vector<std::string>& parts) {
  EXPECT_EQ(kind_name(c.kind), std::string(kind_name(kind))) << c.text;
  for (const std::string& part : parts)
    EXPECT_NE(c.text.find(part), std::string::npos) << "no '" << part << "' in:\n" << c.text;
}

Symbol op(const char* name, const Inputs& inputs, const AttrDict& attrs = {},
          const std::string& node = {}) {
  return make_symbol(name, node, inputs, attrs);
}

Symbol mlp() {
  const Symbol fc1 = op("FullyConnected", {Variable("data")}, {{"num_hidden", "128"}}, "fc1");
  return op("SoftmaxOutput",
            {op("FullyConnected", {op("Activation", {fc1}, {{"act_type", "relu"}}, "relu1")},
                {{"num_hidden", "10"}}, "fc2")},
            {}, "softmax");
}

TEST(BadInputMistakes, a_gradient_array_of_another_dtype_or_device) {
  const NDArrayMap args = {{"x", NDArray::ones({3})}};
  for (const NDArray& grad : {NDArray({3}, cpu(), DType::kFloat16), NDArray({3}, cpu(1))}) {
    says(caught([&] {
           (Variable("x") * 2.0).bind(cpu(), args, {.args_grad = NDArrayMap{{"x", grad}}});
         }),
         ErrorKind::kType, {"gradient array of 'x'", "float32 on cpu(0)", "fix:"});
  }
}

TEST(BadInputMistakes, an_executor_that_was_never_bound) {
  Executor empty;
  says(caught([&] { empty.forward(); }), ErrorKind::kState, {"the executor is empty", "bind"});
  says(caught([&] { empty.arg_dict(); }), ErrorKind::kState, {"the executor is empty"});
  const Symbol s = Variable("x") * 2.0;
  EXPECT_NO_THROW(s.simple_bind(cpu(), {{"x", {2}}}, {.shared_exec = &empty}).forward());
}

TEST(BadInputMistakes, out_that_is_no_array) {
  says(caught([] {
         invoke("_plus_scalar", {NDArray::ones({})}, {{"scalar", "1"}}, {NDArray()});
       }),
       ErrorKind::kState, {"out", "empty"});
}

TEST(BadInputMistakes, a_setting_without_effect_is_noted) {
  const settings::override_for_test workers("MXNET_CPU_WORKER_NTHREADS", "4");
  const CaptureLog log;
  (Variable("x") * 2.0).simple_bind(cpu(), {{"x", {2}}});
  ASSERT_EQ(log.lines().size(), 1u);
  EXPECT_TRUE(log.lines()[0].starts_with("MXNET_CPU_WORKER_NTHREADS is ignored: "));
}

TEST(BadInputMistakes, line01_misspelt_parameter) {
  says(caught([] {
         op("FullyConnected", {Variable("data")}, {{"num_hiden", "10"}});
       }),
       ErrorKind::kName, {"FullyConnected", "num_hiden", "'num_hidden'", "no_bias", "flatten"});
}

TEST(BadInputMistakes, line02_missing_parameter) {
  says(caught([] { op("FullyConnected", {Variable("data")}); }), ErrorKind::kValue,
       {"FullyConnected", "num_hidden is required"});
}

TEST(BadInputMistakes, line03_kernel_of_wrong_rank) {
  const Symbol conv =
      op("Convolution", {Variable("data")}, {{"kernel", "3"}, {"num_filter", "8"}}, "conv");
  says(caught([&] {
         conv.infer_shape({{"data", {1, 3, 8, 8}}});
       }),
       ErrorKind::kValue, {"'conv'", "kernel (3,) is 1-D", "2 spatial axes", "(3, 3)"});
}

TEST(BadInputMistakes, line04_misspelt_choice) {
  says(caught([] {
         op("Activation", {Variable("x")}, {{"act_type", "rely"}});
       }),
       ErrorKind::kName, {"'rely'", "'relu'", "sigmoid", "softrelu", "tanh"});
}

TEST(BadInputMistakes, line05_misspelt_operator) {
  says(caught([] { op("Convolutoin", {Variable("x")}); }), ErrorKind::kName,
       {"Convolutoin", "'Convolution'"});
}

TEST(BadInputMistakes, line06_weight_of_wrong_shape) {
  const Symbol net = mlp();
  const Caught c = caught([&] {
    net.bind(cpu(), NDArrayMap{{"data", NDArray::zeros({100, 784})},
                               {"fc1_weight", NDArray::zeros({128, 100})},
                               {"fc1_bias", NDArray::zeros({128})},
                               {"fc2_weight", NDArray::zeros({10, 128})},
                               {"fc2_bias", NDArray::zeros({10})},
                               {"softmax_label", NDArray::zeros({100})}});
  });
  says(c, ErrorKind::kShape,
       {"FullyConnected 'fc1'", "fc1_weight  given (128, 100)   needed (128, 784)", "because",
        "num_hidden=128", "path: data (100, 784) → fc1", "fix:"});
  EXPECT_EQ(net.simple_bind(cpu(), {{"data", {100, 784}}}).forward()[0].shape(), Shape({100, 10}));
}

TEST(BadInputMistakes, line07_sum_of_unequal_shapes) {
  const Symbol sum = Variable("a") + Variable("b");
  says(caught([&] {
         sum.infer_shape({{"a", {2, 3}}, {"b", {2, 4}}});
       }),
       ErrorKind::kShape, {"a", "b", "(2, 3)", "(2, 4)"});
  says(caught([&] {
         sum.infer_shape({{"a", {2, 3}}, {"b", {2, 1}}});
       }),
       ErrorKind::kShape, {"use broadcast_add"});
}

TEST(BadInputMistakes, line08_concat_of_unequal_extents) {
  const Symbol cat = op("Concat", {Variable("a"), Variable("b")}, {{"dim", "1"}}, "cat");
  says(caught([&] {
         cat.infer_shape({{"a", {2, 3, 8, 8}}, {"b", {2, 3, 7, 7}}});
       }),
       ErrorKind::kShape, {"'cat'", "b", "(2, 3, 7, 7)", "axis 2"});
}

TEST(BadInputMistakes, line09_reshape_that_does_not_fit) {
  const Symbol r = op("Reshape", {Variable("a")}, {{"shape", "(4, 5)"}}, "r");
  says(caught([&] {
         r.infer_shape({{"a", {2, 3}}});
       }),
       ErrorKind::kShape, {"'r'", "(2, 3)", "(4, 5)", "6", "20"});
}

TEST(BadInputMistakes, line10_simple_bind_without_shapes) {
  says(caught([] { mlp().simple_bind(cpu(), {}); }), ErrorKind::kValue,
       {"data", "fc1_weight", "softmax_label", "give data="});
}

TEST(BadInputMistakes, line11_unknown_name_in_infer_shape) {
  says(caught([] {
         mlp().infer_shape({{"dta", {1, 2}}});
       }),
       ErrorKind::kName, {"'dta'", "'data'", "fc1_weight"});
}

TEST(BadInputMistakes, line12_argument_missing_in_bind) {
  says(caught([] {
         (Variable("a") * Variable("b")).bind(cpu(), NDArrayMap{{"a", NDArray::ones({2})}});
       }),
       ErrorKind::kValue, {"'b'", "a, b"});
}

TEST(BadInputMistakes, line13_aux_states_missing) {
  const Symbol bn = op("BatchNorm", {Variable("a")}, {}, "bn");
  says(caught([&] {
         bn.bind(cpu(), NDArrayMap{{"a", NDArray::ones({2, 3})},
                                   {"bn_gamma", NDArray::ones({3})},
                                   {"bn_beta", NDArray::ones({3})}});
       }),
       ErrorKind::kValue, {"bn_moving_mean (3,)", "bn_moving_var (3,)", "aux_states"});
}

TEST(BadInputMistakes, line14_misspelt_grad_req) {
  says(caught([] {
         mlp().simple_bind(cpu(), {{"data", {2, 4}}}, {.grad_req = "wirte"});
       }),
       ErrorKind::kValue, {"'wirte'", "write, add, null"});
}

TEST(BadInputMistakes, line15_backward_of_a_head_that_is_no_loss) {
  Executor e = op("FullyConnected", {Variable("data")}, {{"num_hidden", "3"}}, "fc")
                   .simple_bind(cpu(), {{"data", {2, 4}}});
  e.forward(true);
  says(caught([&] { e.backward(); }), ErrorKind::kValue,
       {"fc_output", "head gradient", "MakeLoss",
        "last operator is not Loss function, head_gradient is required"});
  e.backward({NDArray::ones({2, 3})});
  EXPECT_EQ(e.grad_dict().at("fc_bias").to_vector<float>(), (std::vector<float>{2, 2, 2}));
}

TEST(BadInputMistakes, line16_forward_of_another_shape) {
  Executor e = mlp().simple_bind(cpu(), {{"data", {2, 4}}});
  says(caught([&] {
         e.forward(false, {{"data", NDArray::ones({3, 4})}});
       }),
       ErrorKind::kShape, {"Shape not match!", "data", "(3, 4)", "(2, 4)", "reshape"});
  EXPECT_EQ(e.forward(false, {{"data", NDArray::ones({2, 4})}})[0].shape(), Shape({2, 10}));
}

TEST(BadInputMistakes, line17_forward_twice) {
  Executor e = mlp().simple_bind(cpu(), {{"data", {2, 4}}});
  const CaptureLog log;
  for (int i = 0; i < 3; ++i) e.forward(true);
  EXPECT_EQ(log.lines(), (std::vector<std::string>{
                             "Calling forward the second time after forward(is_train=True) "
                             "without calling backward first. Is this intended?"}));
}

TEST(BadInputMistakes, line18_backward_before_forward) {
  Executor e = mlp().simple_bind(cpu(), {{"data", {2, 4}}});
  const CaptureLog log;
  e.backward();
  e.backward();
  EXPECT_EQ(log.lines(),
            (std::vector<std::string>{"Calling backward without calling forward(is_train=True) "
                                      "first. Behavior is undefined."}));
}

TEST(BadInputMistakes, line19_gpu_on_a_machine_without_one) {
  if (num_gpus() > 0) GTEST_SKIP() << "there is a GPU here";
  says(caught([] { NDArray::zeros({2}, gpu(0)); }), ErrorKind::kValue,
       {"gpu(0)", "CUDA", "0", "SYMBIND_GPU_AS_CPU=1"});
  says(caught([] {
         mlp().simple_bind(gpu(0), {{"data", {2, 4}}});
       }),
       ErrorKind::kValue, {"gpu(0)", "CUDA"});
}

TEST(BadInputMistakes, line20_a_net_of_ten_terabytes) {
  const Symbol net =
      op("FullyConnected", {Variable("data")}, {{"num_hidden", "1000000000"}}, "huge");
  says(caught([&] {
         net.simple_bind(cpu(), {{"data", {1000, 1500}}});
       }),
       ErrorKind::kMemory, {"huge_weight (1000000000, 1500)", "GB", "free"});
  EXPECT_EQ(mlp().simple_bind(cpu(), {{"data", {2, 4}}}).forward()[0].shape(), Shape({2, 10}));
}

TEST(BadInputConvolution, kernel_of_zeros) {
  const Symbol c =
      op("Convolution", {Variable("data")}, {{"kernel", "(0, 0)"}, {"num_filter", "8"}}, "conv");
  says(caught([&] {
         c.infer_shape({{"data", {1, 3, 8, 8}}});
       }),
       ErrorKind::kValue, {"conv", "kernel"});
}

TEST(BadInputConvolution, negative_sizes) {
  for (const char* name : {"kernel", "stride", "dilate", "pad"}) {
    AttrDict attrs = {{"kernel", "(3, 3)"}, {"num_filter", "8"}};
    attrs[name] = "(-1, -1)";
    says(caught([&] {
           op("Convolution", {Variable("data")}, attrs, "conv")
               .infer_shape({{"data", {1, 3, 8, 8}}});
         }),
         ErrorKind::kValue, {"conv", name});
  }
  says(
      caught([] {
        op("Convolution", {Variable("data")}, {{"kernel", "(3, 3)"}, {"num_filter", "-8"}}, "conv");
      }),
      ErrorKind::kValue, {"conv", "num_filter"});
  const Symbol large =
      op("Convolution", {Variable("data")}, {{"kernel", "(9, 9)"}, {"num_filter", "8"}}, "conv");
  says(caught([&] {
         large.infer_shape({{"data", {1, 3, 8, 8}}});
       }),
       ErrorKind::kShape, {"conv", "9", "8"});
}

TEST(BadInputConvolution, two_to_the_31_filters) {
  says(caught([] {
         op("Convolution", {Variable("data")}, {{"kernel", "(3, 3)"}, {"num_filter", "2147483648"}},
            "conv")
             .simple_bind(cpu(), {{"data", {1, 3, 8, 8}}});
       }),
       ErrorKind::kValue, {"conv", "num_filter"});
}

TEST(BadInputVariadic, a_count_that_does_not_fit_the_inputs) {
  says(caught([] {
         op("Concat", {}, {{"num_args", "2147483647"}}, "cat");
       }),
       ErrorKind::kValue, {"cat", "2147483647 inputs", "limit is 65536"});
  says(caught([] {
         op("Concat", {Variable("a"), Variable("b"), Variable("c")}, {{"num_args", "2"}}, "cat");
       }),
       ErrorKind::kValue, {"cat", "num_args=2", "3 inputs"});
  EXPECT_EQ(op("Concat", {Variable("a")}, {{"num_args", "2"}}, "cat").list_arguments(),
            (std::vector<std::string>{"a", "cat_arg1"}));
  EXPECT_EQ(op("Concat", {}, {{"num_args", "2"}}, "cat").list_arguments(),
            (std::vector<std::string>{"cat_arg0", "cat_arg1"}));
}

}  // namespace
}  // namespace symbind
