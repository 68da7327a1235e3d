#include "fuzz/operator_call.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <symbind/autograd.h>
#include <symbind/executor.h>
#include <symbind/operator.h>

#include "fuzz/draw.h"
#include "fuzz/support.h"

namespace symbind::fuzz {
namespace {

using Json = nlohmann::json;

constexpr std::int64_t kMostBytes = 16 << 20;

std::string input_name(std::size_t i) { return fmt::format("x{}", i); }

Symbol symbol_of(const OperatorCall& call) {
  std::vector<Symbol> inputs;
  for (std::size_t i = 0; i < call.inputs.size(); ++i) inputs.push_back(Variable(input_name(i)));
  return make_symbol(call.op, "node", inputs, call.attrs);
}

/// Shapes as they are: 0 is an extent, not an unknown one.
class NumpyShapes {
 public:
  NumpyShapes() : before_(set_np_shape(true)) {}
  ~NumpyShapes() { set_np_shape(before_); }
  NumpyShapes(const NumpyShapes&) = delete;
  NumpyShapes& operator=(const NumpyShapes&) = delete;

 private:
  bool before_;
};

/// Whether everything the call makes stays within kMostBytes; an Error where it cannot be inferred.
bool is_small(const OperatorCall& call, const Symbol& symbol) {
  ShapeMap shapes;
  for (std::size_t i = 0; i < call.inputs.size(); ++i)
    shapes[input_name(i)] = Shape(call.inputs[i].shape);
  std::int64_t elements = 0;
  for (const Shape& shape : symbol.infer_shape_partial(shapes).outputs) {
    if (!shape.known()) continue;
    elements += std::min(shape.size(), kMostBytes);
  }
  return elements * 8 <= kMostBytes;
}

std::vector<NDArray> arrays_of(const OperatorCall& call) {
  std::vector<NDArray> arrays;
  for (const CallInput& in : call.inputs)
    arrays.push_back(filled(Shape(in.shape), dtype_from_name(in.dtype), in.fill, in.seed));
  return arrays;
}

std::vector<NDArray> heads_for(const std::vector<NDArray>& outputs, const std::string& kind) {
  std::vector<NDArray> heads;
  if (kind == "none") return heads;
  for (const NDArray& output : outputs) {
    Shape shape = output.shape();
    DType dtype = output.dtype();
    if (kind == "shape") {
      if (shape.rank() > 0 && shape[0] > 1)
        shape[0] -= 1;
      else
        shape.push_back(2);
    }
    if (kind == "dtype") dtype = dtype == DType::kFloat64 ? DType::kInt8 : DType::kFloat64;
    heads.push_back(filled(shape, dtype, kind == "wild" ? "wild" : "usual", 7));
  }
  return heads;
}

void wait(const std::vector<NDArray>& arrays) {
  for (const NDArray& array : arrays)
    if (array.defined()) array.wait_to_read();
}

bool is_unread(const OperatorCall& call, std::size_t output) {
  return (call.unread >> std::min<std::size_t>(output, 63) & 1) != 0;
}

void overwrite(const std::vector<NDArray>& arrays) {
  for (const NDArray& array : arrays)
    filled(array.shape(), array.dtype(), "wild", 3).copy_to(array);
}

std::vector<NDArray> outs_for(const OperatorCall& call, const std::vector<NDArray>& inputs) {
  if (call.out == "fresh") return {};
  if (call.out == "input" && !inputs.empty()) return {inputs.front()};
  const std::vector<NDArray> made = invoke(call.op, inputs, call.attrs, {}, call.train);
  std::vector<NDArray> outs;
  for (const NDArray& array : made) {
    Shape shape = array.shape();
    if (call.out == "shape") shape.push_back(1);
    const bool other = call.out == "dtype";
    outs.push_back(NDArray::zeros(
        shape, cpu(), other && array.dtype() == DType::kFloat32 ? DType::kInt32 : DType::kFloat32));
  }
  return outs;
}

void run_invoke(const OperatorCall& call) {
  const std::vector<NDArray> inputs = arrays_of(call);
  wait(invoke(call.op, inputs, call.attrs, outs_for(call, inputs), call.train));
}

void run_recorded(const OperatorCall& call) {
  std::vector<NDArray> inputs = arrays_of(call);
  for (NDArray& input : inputs)
    if (is_float(input.dtype())) input.attach_grad();
  std::vector<NDArray> outputs;
  {
    const autograd::Record record(call.train);
    outputs = invoke(call.op, inputs, call.attrs);
  }
  if (call.overwrites) overwrite(outputs);
  std::vector<NDArray> heads;
  for (std::size_t i = 0; i < outputs.size(); ++i)
    if (!is_unread(call, i)) heads.push_back(outputs[i]);
  if (heads.empty()) return wait(outputs);
  autograd::backward(heads, {.head_grads = heads_for(heads, call.heads)});
  for (const NDArray& input : inputs) wait({input.grad()});
  wait(outputs);
}

/// The outputs that are read, or what reads only the shape of the first.
Symbol read_part(const OperatorCall& call, const Symbol& all) {
  std::vector<Symbol> read;
  for (std::size_t i = 0; i < all.num_outputs(); ++i)
    if (!is_unread(call, i)) read.push_back(all[i]);
  if (read.empty()) return make_symbol("ones_like", "ones", {all[0]});
  return Group(read);
}

void run_bound(const OperatorCall& call, const Symbol& symbol) {
  const Symbol part = read_part(call, symbol);
  const std::vector<NDArray> inputs = arrays_of(call);
  NDArrayMap args, grads, aux;
  const std::vector<std::string> states = part.list_auxiliary_states();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::string name = input_name(i);
    if (std::ranges::find(states, name) != states.end()) {
      aux[name] = inputs[i];
      continue;
    }
    args[name] = inputs[i];
    if (is_float(inputs[i].dtype()))
      grads[name] = NDArray::zeros(inputs[i].shape(), cpu(), inputs[i].dtype());
  }
  std::map<std::string, std::string> reqs;
  for (const auto& [name, array] : grads) reqs[name] = call.unread % 2 == 0 ? "write" : "add";
  Executor executor =
      part.bind(cpu(), args, {.args_grad = grads, .grad_req = reqs, .aux_states = aux});
  const std::vector<NDArray> outputs = executor.forward(call.train);
  if (call.overwrites) overwrite(outputs);
  if (call.train) {
    executor.backward(heads_for(outputs, call.heads));
    wait(executor.grad_arrays());
  }
  wait(outputs);
}

Json to_json(const CallInput& in) {
  return {{"shape", in.shape}, {"dtype", in.dtype}, {"fill", in.fill}, {"seed", in.seed}};
}

}  // namespace

std::string to_line(const OperatorCall& call) {
  Json inputs = Json::array();
  for (const CallInput& in : call.inputs) inputs.push_back(to_json(in));
  return Json{{"op", call.op},       {"attrs", call.attrs}, {"inputs", inputs},
              {"way", call.way},     {"train", call.train}, {"unread", call.unread},
              {"heads", call.heads}, {"out", call.out},     {"overwrites", call.overwrites}}
      .dump();
}

OperatorCall from_line(const std::string& line) {
  const Json json = Json::parse(line);
  OperatorCall call{.op = json.at("op"), .attrs = json.at("attrs")};
  for (const Json& in : json.at("inputs"))
    call.inputs.push_back({in.at("shape"), in.at("dtype"), in.at("fill"), in.at("seed")});
  call.way = json.at("way");
  call.train = json.at("train");
  call.unread = json.at("unread");
  call.heads = json.at("heads");
  call.out = json.at("out");
  call.overwrites = json.at("overwrites");
  return call;
}

Outcome run_call(const OperatorCall& call) {
  const NumpyShapes shapes;
  try {
    const Symbol symbol = symbol_of(call);
    if (!is_small(call, symbol)) return Outcome::kSkipped;
    if (call.way == "invoke")
      run_invoke(call);
    else if (call.way == "record")
      run_recorded(call);
    else
      run_bound(call, symbol);
    return Outcome::kRan;
  } catch (const Error&) {
    return Outcome::kRefused;
  }
}

std::string to_symbol_json(const OperatorCall& call) {
  const NumpyShapes shapes;
  std::vector<Symbol> inputs;
  for (std::size_t i = 0; i < call.inputs.size(); ++i)
    inputs.push_back(Variable(input_name(i), {.shape = Shape(call.inputs[i].shape),
                                              .dtype = dtype_from_name(call.inputs[i].dtype)}));
  return make_symbol(call.op, "node", inputs, call.attrs).tojson();
}

}  // namespace symbind::fuzz
