#include "tests/support/op_run.h"

#include <cmath>
#include <cstring>

#include <symbind/detail/op_info.h>
#include <symbind/random.h>

#include "base/parallel.h"
#include "executor/runner.h"
#include "kernels/reorder.h"
#include "tests/support/formula.h"

namespace symbind {
namespace {

std::string input_name(std::size_t i) { return "in" + std::to_string(i); }

// Auxiliary states and inputs that are overwritten must be variables.
bool must_be_variable(const OpCase& c, std::size_t i) {
  const auto attrs = parsed_attrs(c);
  const auto input = static_cast<int>(i);
  return definition(c).is_aux(attrs.get(), input) || definition(c).mutates(attrs.get(), input);
}

// The node of an operator that passes make, which make_symbol refuses.
Symbol internal_symbol(const OpCase& c, const std::vector<Symbol>& inputs) {
  NodeEntries entries, heads;
  for (const Symbol& input : inputs) entries.push_back(input.heads().front());
  const NodePtr node = make_node(definition(c), "node", c.attrs(), std::move(entries));
  for (int i = 0; i < node->num_visible(); ++i) heads.push_back({node, i});
  return Symbol(std::move(heads));
}

}  // namespace

const OpDef& definition(const OpCase& c) { return any_operator(c.op()); }

std::shared_ptr<const void> parsed_attrs(const OpCase& c) {
  return parse_node_attrs(definition(c), "node", c.attrs(), c.inputs().size());
}

Symbol case_symbol(const OpCase& c, InputsAre inputs) {
  std::vector<Symbol> given, outputs;
  for (std::size_t i = 0; i < c.inputs().size(); ++i) {
    Symbol s = Variable(input_name(i));
    if (inputs != InputsAre::kBound && !must_be_variable(c, i)) {
      s = make_symbol("_mul_scalar", "mid" + std::to_string(i), std::vector<Symbol>{s},
                      {{"scalar", "1"}});
      outputs.push_back(s);
    }
    given.push_back(s);
  }
  Symbol node = is_public(definition(c)) ? make_symbol(c.op(), "node", given, c.attrs())
                                         : internal_symbol(c, given);
  if (inputs != InputsAre::kLiving || outputs.empty()) return node;
  outputs.insert(outputs.begin(), node);
  return Group(outputs);
}

Symbol case_symbol(const OpCase& c, const std::vector<int>& reads) {
  const Symbol node = case_symbol(c);
  std::vector<Symbol> outputs;
  for (const int o : reads) outputs.push_back(node[static_cast<std::size_t>(o)]);
  if (reads.empty())
    for (const char* op : {"shape_array", "ones_like"})
      outputs.push_back(make_symbol(op, op, std::vector<Symbol>{node[0]}));
  return Group(outputs);
}

std::vector<std::size_t> free_inputs(const OpCase& c) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < c.inputs().size(); ++i)
    if (!must_be_variable(c, i)) found.push_back(i);
  return found;
}

std::vector<DType> input_dtypes(const OpCase& c, DType dtype) {
  std::vector<DType> out(c.inputs().size(), dtype);
  if (out.empty()) return out;
  const Symbol symbol = case_symbol(c);
  DTypeMap given = {{input_name(0), c.inputs()[0].dtype.value_or(dtype)}};
  for (std::size_t i = 1; i < out.size(); ++i) {
    if (c.inputs()[i].dtype) given[input_name(i)] = *c.inputs()[i].dtype;
  }
  const InferredTypes types = symbol.infer_type(given);
  const auto take = [&](const std::vector<std::string>& names, const std::vector<DType>& found) {
    for (std::size_t k = 0; k < names.size() && k < found.size(); ++k)
      for (std::size_t i = 0; i < out.size(); ++i)
        if (names[k] == input_name(i) && found[k] != DType::kUnknown) out[i] = found[k];
  };
  take(symbol.list_arguments(), types.args);
  take(symbol.list_auxiliary_states(), types.aux);
  return out;
}

HostTensors rounded_inputs(const OpCase& c, DType dtype) {
  HostTensors out = c.values();
  const std::vector<DType> types = input_dtypes(c, dtype);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = out[i].rounded(types[i]);
  return out;
}

std::vector<std::string> all_gradients(const OpCase& c) {
  std::vector<std::string> req;
  for (std::size_t i = 0; i < c.inputs().size(); ++i) {
    const bool wanted = c.wants_grad(static_cast<int>(i)) && !must_be_variable(c, i);
    req.push_back(wanted ? "write" : "null");
  }
  return req;
}

DType main_type(const OpCase& c) {
  const std::vector<DType> types = c.types();
  const bool has_float = std::find(types.begin(), types.end(), DType::kFloat32) != types.end();
  return has_float ? DType::kFloat32 : types.at(0);
}

bool has_gradient(const OpCase& c) {
  if (c.is_imperative() || !is_float(main_type(c))) return false;
  for (const std::string& req : all_gradients(c))
    if (req != "null") return true;
  return false;
}

BoundCase::BoundCase(const OpCase& c, const BindRequest& request) : case_(c) {
  const Symbol symbol =
      request.reads ? case_symbol(c, *request.reads) : case_symbol(c, request.inputs);
  const std::vector<DType> types = input_dtypes(c, request.dtype);
  NDArrayMap args, gradients, aux;
  std::map<std::string, std::string> req;
  const std::vector<std::string> aux_names = symbol.list_auxiliary_states();
  gradients_.resize(c.inputs().size());
  for (std::size_t i = 0; i < c.inputs().size(); ++i) {
    const std::string name = input_name(i);
    const HostTensor& value = request.values ? request.values->at(i) : c.inputs()[i].value;
    arrays_.push_back(value.array(types[i], request.context));
    const bool is_aux = std::find(aux_names.begin(), aux_names.end(), name) != aux_names.end();
    (is_aux ? aux : args)[name] = arrays_.back();
    if (is_aux) continue;
    req[name] = request.grad_req.empty() ? "null" : request.grad_req.at(i);
    if (req[name] == "null") continue;
    gradients_[i] = NDArray::zeros(arrays_.back().shape(), request.context, types[i]);
    gradients[name] = gradients_[i];
  }
  executor_ = symbol.bind(request.context, args,
                          {.args_grad = gradients, .grad_req = req, .aux_states = aux});
  num_outputs_ = executor_.outputs().size();
}

void BoundCase::load(const HostTensors& inputs) {
  for (std::size_t i = 0; i < inputs.size(); ++i)
    arrays_[i].copy_from_host(inputs[i].values.data(), DType::kFloat64);
}

void BoundCase::fill_memory(unsigned char byte) {
  const auto fill = [byte](const NDArray& array) {
    if (array.defined() && array.size() > 0) {
      NDArray target = array;
      std::memset(target.mutable_data(), byte, array.nbytes());
    }
  };
  for (const NDArray& a : executor_.outputs()) fill(a);
  for (const NDArray& a : gradients_) fill(a);
  const Plan& plan = runner_of(executor_).plan();
  for (const auto& [slot, bytes] : plan.arena_bytes) {
    const Context at = plan.contexts[static_cast<std::size_t>(slot)];
    const auto& arena = runner_of(executor_).arenas()->at({static_cast<int>(at.type), at.id});
    if (bytes > 0) std::memset(arena->base(), byte, bytes);
  }
}

std::vector<std::string> BoundCase::bytes() const {
  std::vector<std::string> all;
  for (const auto* list : {&executor_.outputs(), &gradients_, &arrays_})
    for (const NDArray& a : *list) {
      const bool has = a.defined() && a.size() > 0;
      all.emplace_back(has ? static_cast<const char*>(a.data()) : "", has ? a.nbytes() : 0);
    }
  return all;
}

HostTensors BoundCase::fill_gradients() {
  HostTensors before(gradients_.size());
  for (std::size_t i = 0; i < gradients_.size(); ++i) {
    if (!gradients_[i].defined()) continue;
    const HostTensor t = HostTensor::formula(gradients_[i].shape(), 1000 + i);
    gradients_[i].copy_from_host(t.values.data(), DType::kFloat64);
    before[i] = HostTensor::from(gradients_[i]);
  }
  return before;
}

void BoundCase::spoil() {
  const auto fill = [](NDArray a) {
    const std::vector<double> odd(static_cast<std::size_t>(a.size()), 113.0);
    a.copy_from_host(odd.data(), DType::kFloat64);
  };
  for (const NDArray& a : executor_.outputs()) fill(a);
  for (const NDArray& g : gradients_)
    if (g.defined()) fill(g);
  load(case_.values());  // an output may be an input seen in another shape
}

HostTensors BoundCase::forward() {
  seed(7);
  HostTensors out;
  for (const NDArray& a : executor_.forward(case_.is_train())) out.push_back(HostTensor::from(a));
  return out;
}

HostTensors BoundCase::backward(const HostTensors& heads) {
  std::vector<NDArray> arrays;
  for (std::size_t o = 0; o < heads.size(); ++o) {
    const NDArray& out = executor_.outputs()[o];
    arrays.push_back(heads[o].array(out.dtype(), out.context()));
  }
  executor_.backward(arrays);
  HostTensors out;
  for (const NDArray& g : gradients_)
    out.push_back(g.defined() ? HostTensor::from(g) : HostTensor{});
  return out;
}

HostTensors BoundCase::random_heads() const {
  HostTensors heads;
  for (std::size_t o = 0; o < executor_.outputs().size(); ++o) {
    const NDArray& out = executor_.outputs()[o];
    const HostTensor head = HostTensor::formula(out.shape(), 500 + o);
    heads.push_back(head.rounded(out.dtype()));
  }
  return heads;
}

HostTensors BoundCase::inputs() const {
  HostTensors out;
  for (const NDArray& a : arrays_) out.push_back(HostTensor::from(a));
  return out;
}

std::vector<DType> BoundCase::output_dtypes() const {
  std::vector<DType> out;
  for (const NDArray& a : executor_.outputs()) out.push_back(a.dtype());
  return out;
}

HostTensors run_invoke(const OpCase& c, DType dtype, const HostTensors& values) {
  std::vector<NDArray> inputs;
  const std::vector<DType> types = input_dtypes(c, dtype);
  for (std::size_t i = 0; i < types.size(); ++i) inputs.push_back(values.at(i).array(types[i]));
  std::vector<NDArray> into;
  const auto attrs = parsed_attrs(c);
  if (c.is_imperative()) {
    const OpDef& op = definition(c);
    const int outputs = op.num_visible(attrs.get());
    for (int o = 0; o < outputs; ++o)
      into.push_back(inputs.at(static_cast<std::size_t>(o * op.group)));
  }
  seed(7);
  HostTensors out;
  for (const NDArray& a : invoke(definition(c), inputs, c.attrs(), into, c.is_train()))
    out.push_back(HostTensor::from(a));
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (definition(c).mutates(attrs.get(), static_cast<int>(i)))
      out.push_back(HostTensor::from(inputs[i]));
  return out;
}

namespace {

bool divides(const Shape& shape, Layout layout) {
  if (layout == Layout::kPlain) return true;
  if (shape.rank() < 3) return false;
  if (layout == Layout::kBlocked8) return shape[1] % 8 == 0;
  if (layout == Layout::kBlocked16) return shape[1] % 16 == 0;
  return true;
}

// What the passes would ask the kernel.
bool make_request(const OpCase& c, const void* attrs, DType dtype, Layout layout,
                  KernelRequest& request) {
  const OpDef& op = definition(c);
  const std::vector<DType> types = input_dtypes(c, dtype);
  std::vector<Shape> in_shapes, out_shapes(op.output_names(attrs).size(), Shape::unknown());
  std::vector<DType> in_dtypes = types, out_dtypes(out_shapes.size(), DType::kUnknown);
  for (const OpCase::Input& i : c.inputs()) in_shapes.push_back(i.value.shape);
  Inference io(in_shapes, out_shapes, in_dtypes, out_dtypes);
  op.infer(attrs, io);
  op.infer(attrs, io);
  if (layout != Layout::kPlain && (in_shapes.empty() || !divides(in_shapes[0], layout)))
    return false;
  for (std::size_t i = 0; i < in_shapes.size(); ++i) {
    const bool laid_out = i == 0 || (in_shapes[i] == in_shapes[0]);
    request.in.push_back({in_shapes[i], in_dtypes[i], laid_out ? layout : Layout::kPlain});
  }
  for (std::size_t o = 0; o < out_shapes.size(); ++o) {
    const bool opaque = io.is_opaque(static_cast<int>(o));
    const DType type = out_dtypes[o] == DType::kUnknown ? DType::kFloat32 : out_dtypes[o];
    request.out.push_back({opaque ? Shape{0} : out_shapes[o], opaque ? DType::kUint8 : type});
    const bool visible = static_cast<int>(o) < op.num_visible(attrs);
    request.wanted.push_back(visible || c.is_train());
  }
  request.constant.assign(in_shapes.size(), false);
  request.training = c.is_train();
  request.threads = num_threads();
  return true;
}

NDArray reordered(const NDArray& from, TensorDesc desc, Layout before, Layout after) {
  NDArray to(from.shape(), cpu(), from.dtype());
  if (same_bytes(desc.shape, before, after)) {
    from.copy_to(to);
    return to;
  }
  TensorDesc target = desc;
  desc.layout = before;
  target.layout = after;
  const TensorArg in{.data = const_cast<void*>(from.data())}, out{.data = to.mutable_data()};
  prepare_reorder(desc, target)(Args{.inputs = &in, .outputs = &out});
  return to;
}

}  // namespace

KernelRun run_kernel(const OpCase& c, const KernelDef& kernel, DType dtype, Layout layout) {
  const OpDef& op = definition(c);
  const auto attrs = parsed_attrs(c);
  KernelRequest request;
  if (!make_request(c, attrs.get(), dtype, layout, request)) return {.refusal = "layout"};
  const Offer offer = kernel.offer(attrs.get(), request);
  if (!offer.accepted()) return {.refusal = offer.refusal};
  std::vector<NDArray> in, out;
  std::vector<TensorArg> in_args, out_args;
  for (std::size_t i = 0; i < request.in.size(); ++i) {
    request.in[i].layout = offer.in_layouts.at(i);
    const NDArray plain = c.inputs()[i].value.array(request.in[i].dtype);
    in.push_back(reordered(plain, request.in[i], Layout::kPlain, request.in[i].layout));
    in_args.push_back({.data = in.back().mutable_data(), .storage = in.back().storage().get()});
  }
  for (std::size_t o = 0; o < request.out.size(); ++o) {
    TensorDesc& desc = request.out[o];
    desc.layout = offer.out_layouts.at(o);
    if (desc.dtype == DType::kUint8 && desc.shape == Shape{0})
      desc.shape = Shape{static_cast<std::int64_t>(offer.opaque_bytes.at(o))};
    out.push_back(NDArray(desc.shape, cpu(), desc.dtype));
    // Shows elements that a kernel does not write.
    if (out.back().size() > 0) std::memset(out.back().mutable_data(), 0xA5, out.back().nbytes());
    out_args.push_back({.data = request.wanted[o] ? out.back().mutable_data() : nullptr});
  }
  const Prepared run = kernel.prepare(attrs.get(), request, offer);
  const NDArray workspace({static_cast<std::int64_t>(offer.workspace_bytes) + 64}, cpu(),
                          DType::kUint8);
  const std::vector<double> values = per_call_values(op.describe(const_cast<void*>(attrs.get())));
  const RunState state{.is_train = c.is_train(), .random_seed = 7, .random_draw = 0};
  {
    const VendorThreads threads;
    run(Args{.inputs = in_args.data(),
             .outputs = out_args.data(),
             .workspace = const_cast<void*>(workspace.data()),
             .values = values.data(),
             .run = &state});
  }
  KernelRun result;
  result.dtype = request.out.at(0).dtype;
  for (int o = 0; o < op.num_visible(attrs.get()); ++o) {
    const auto at = static_cast<std::size_t>(o);
    result.outputs.push_back(HostTensor::from(
        reordered(out[at], request.out[at], request.out[at].layout, Layout::kPlain)));
  }
  for (std::size_t i = 0; i < in.size(); ++i)
    if (op.mutates(attrs.get(), static_cast<int>(i)))
      result.outputs.push_back(HostTensor::from(in[i]));
  return result;
}

}  // namespace symbind
