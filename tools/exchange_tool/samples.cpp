#include "samples.h"

#include <symbind/symbind.h>

using namespace symbind;

std::map<std::string, Sample> sample_symbols() {
  std::map<std::string, Sample> all;
  const Symbol data = Variable("data");
  const Symbol fc1 = FullyConnected("fc1", data, {.num_hidden = 128});
  const Symbol relu1 = Activation("relu1", fc1, {.act_type = "relu"});
  all["mlp"] = {SoftmaxOutput("softmax", FullyConnected("fc2", relu1, {.num_hidden = 10})),
                {{"data", {4, 20}}}};

  Symbol x = Convolution("conv", data,
                         {.kernel = {3, 3}, .stride = {2, 1}, .pad = {1, 1}, .num_filter = 8});
  x = Activation("", BatchNorm("bn", x, {.eps = 2e-5, .fix_gamma = false}), {.act_type = "relu"});
  x = Pooling(
      "", x,
      {.kernel = {2, 2}, .pool_type = "max", .pooling_convention = "full", .stride = {2, 2}});
  x = FullyConnected("out", Flatten("", Dropout("", x, {.p = 0.3})),
                     {.num_hidden = 5, .no_bias = true});
  all["convnet"] = {x, {{"data", {2, 3, 9, 10}}}};

  {
    const AttrScope scope({{"ctx_group", "stage1"}, {"__mood__", "sunny"}});
    const Symbol w = Variable("w", {.attr = {{"__note__", "mine"}},
                                    .shape = Shape{6, kUnknownDim},
                                    .lr_mult = 2,
                                    .dtype = DType::kFloat32,
                                    .init = R"(["constant", {"value": 0.5}])"});
    x = FullyConnected("fc", {.data = data, .weight = w},
                       {.num_hidden = 6, .attr = {{"lr_mult", "0.1"}}});
  }
  all["attributes"] = {Activation("act", x, {.act_type = "tanh"}), {{"data", {3, 4}}}};

  const Symbol shared = Variable("shared_weight");
  const Symbol a =
      FullyConnected("a", {.data = data, .weight = shared}, {.num_hidden = 4, .no_bias = true});
  const Symbol b = FullyConnected("b", {.data = relu("ra", a), .weight = shared},
                                  {.num_hidden = 4, .no_bias = true});
  const Symbol total = add_n("total", {a, b, data});
  all["shared"] = {total, {{"data", {5, 4}}}};
  all["group"] = {Group({total, a, sum("s", total, {.axis = {0, 1}})}), {{"data", {5, 4}}}};

  const Symbol p = Variable("x"), q = Variable("y");
  all["arithmetic"] = {(p + q) * (p - q) / (p * 3 + 1.5) - 2 / (-q), {{"x", {2, 3}}}};

  std::vector<Symbol> many;
  for (int i = 0; i < 12; ++i) many.push_back(Variable("v" + std::to_string(i)));
  all["many"] = {Concat("join", many, {.dim = 0}), {}};
  for (int i = 0; i < 12; ++i) all["many"].shapes["v" + std::to_string(i)] = Shape{1, 2};

  const std::string odd = "ein \"Name\" \\ mit ü/日本\t";
  all["names"] = {FullyConnected("fc.with-odd:name", Variable(odd), {.num_hidden = 2}),
                  {{odd, {1, 3}}}};
  all["variable"] = {Variable("alone", {.shape = Shape{2, 3}}), {}};
  return all;
}

void write_sample_arrays(const std::string& folder) {
  const auto ramp = [](const Shape& shape, DType dtype = DType::kFloat32) {
    return (NDArray::arange(0, static_cast<double>(shape.size())).reshape(shape) * 0.75 + 1)
        .astype(dtype);
  };
  save(folder + "/dict.params", NDArrayMap{{"arg:fc1_weight", ramp({4, 5})},
                                           {"arg:fc1_bias", ramp({4})},
                                           {"aux:bn_moving_mean", ramp({4})},
                                           {"aux:bn_moving_var", ramp({4})}});
  save(folder + "/list.params", std::vector<NDArray>{ramp({3}), ramp({2, 2})});
  NDArrayMap dtypes;
  for (const DType dtype :
       {DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kUint8, DType::kInt32,
        DType::kInt8, DType::kInt64, DType::kBool, DType::kBFloat16}) {
    dtypes["k_" + std::string(dtype_name(dtype))] = ramp({2, 3}, dtype);
  }
  save(folder + "/dtypes.params", dtypes);
  std::vector<NDArray> ranks;
  for (int rank = 1; rank <= 6; ++rank)
    ranks.push_back(ramp(Shape(std::vector<std::int64_t>(static_cast<std::size_t>(rank), 2))));
  save(folder + "/ranks.params", ranks);
  save(folder + "/none.params", std::vector<NDArray>{});
}
