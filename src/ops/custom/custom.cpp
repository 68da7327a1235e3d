// Custom: a user-defined operator, in C++ or Python (symbind/custom.h).
//
// Its attributes are op_type and the operator's own parameters; from these a description is made,
// once, when they are parsed. The description provides everything else: names, shapes, dtypes, and
// for every executor (every call, if there is none) an object that computes.
//
// Decided here: user code gets copies of its inputs and new arrays for its results, so arrays it
// keeps stay valid and never alias the executor's arena. Forward passes the number of its object to
// backward through a hidden output, `_state`; for an unknown number, as when backward is called
// alone, a new object is made. As in MXNet the gradient runs even before a BlockGrad. Unlike in
// MXNet, a result that was not written is 0, not uninitialised.
#include <symbind/custom.h>

#include <map>
#include <mutex>

#include <symbind/operator.h>

#include "base/build.h"
#include "base/check.h"
#include "base/profiling.h"
#include "graph/custom_registry.h"
#include "ndarray/storage.h"

namespace symbind {
namespace {

// ---- Attributes ---------------------------------------------------------------------------------

struct CustomAttrs {
  std::string op_type;
  CustomDescriptionPtr op;  ///< null before parsing: no inputs, one output
  std::vector<std::string> inputs, aux;
  std::vector<std::string> outputs{"output"};
  std::vector<bool> reads{true, true};  ///< of backward: gradients of the outputs, inputs, outputs

  void describe(AttrVisitor& v) {
    v.field("op_type", op_type, "Name the operator was registered by.").required();
  }
  int num_in() const { return static_cast<int>(inputs.size()); }
  int num_out() const { return static_cast<int>(outputs.size()); }
  int num_aux() const { return static_cast<int>(aux.size()); }
  bool reads_out_grad(int i) const { return reads[static_cast<std::size_t>(i)]; }
  bool reads_in(int i) const { return reads[static_cast<std::size_t>(num_out() + i)]; }
  bool reads_out(int i) const { return reads[static_cast<std::size_t>(num_out() + num_in() + i)]; }
};

void take_rest(CustomAttrs& a, AttrDict rest) {
  a.op = describe_custom(a.op_type, rest);
  a.inputs = a.op->inputs();
  a.outputs = a.op->outputs();
  a.aux = a.op->aux();
  check(!a.outputs.empty(), "Custom operator '{}' has no outputs", a.op_type);
  a.reads.assign(a.outputs.size() * 2 + a.inputs.size(), false);
  for (const int i : a.op->backward_reads()) {
    check(i >= 0 && static_cast<std::size_t>(i) < a.reads.size(), ErrorKind::kIndex,
          "Custom operator '{}': its backward reads array {}, there are {}", a.op_type, i,
          a.reads.size());
    a.reads[static_cast<std::size_t>(i)] = true;
  }
}

std::vector<std::string> input_names(const CustomAttrs& a) {
  std::vector<std::string> names = a.inputs;
  names.insert(names.end(), a.aux.begin(), a.aux.end());
  return names;
}

std::vector<std::string> output_names(const CustomAttrs& a) {
  std::vector<std::string> names = a.outputs;
  names.push_back("_state");
  return names;
}

std::vector<int> numbers(int first, int count) {
  std::vector<int> all;
  for (int i = 0; i < count; ++i) all.push_back(first + i);
  return all;
}

InputRoles roles(const CustomAttrs& a) {
  const std::vector<int> aux = numbers(a.num_in(), a.num_aux());
  return {.aux = aux, .mutated = aux, .shape_only = {}};
}

/// Indices of the gradient's inputs: the output gradients it reads, all inputs (of some only the
/// shape is read), the outputs it reads, the auxiliary states and the state.
struct BackwardInputs {
  std::vector<std::string> names;
  std::vector<int> out_grad, in, out, aux;  ///< -1 where it is not read
  int state = 0;

  explicit BackwardInputs(const CustomAttrs& a) {
    const auto add = [&](bool given, const std::string& name) {
      if (given) names.push_back(name);
      return given ? static_cast<int>(names.size()) - 1 : -1;
    };
    for (int i = 0; i < a.num_out(); ++i)
      out_grad.push_back(
          add(a.reads_out_grad(i), a.outputs[static_cast<std::size_t>(i)] + "_grad"));
    for (const std::string& name : a.inputs) in.push_back(add(true, name));
    for (int i = 0; i < a.num_out(); ++i)
      out.push_back(add(a.reads_out(i), a.outputs[static_cast<std::size_t>(i)]));
    for (const std::string& name : a.aux) aux.push_back(add(true, name));
    state = add(true, "_state");
  }
};

InputRoles backward_roles(const CustomAttrs& a) {
  const BackwardInputs at(a);
  InputRoles r{.aux = {}, .mutated = at.aux, .shape_only = {}};
  for (int i = 0; i < a.num_in(); ++i)
    if (!a.reads_in(i)) r.shape_only.push_back(at.in[static_cast<std::size_t>(i)]);
  return r;
}

// ---- Inference ----------------------------------------------------------------------------------

// Descriptions expect known inputs. Errors thrown while the first is unknown are ignored: the rule
// runs again later.
template <class F>
auto ask(bool known, F&& f) -> std::optional<decltype(f())> {
  try {
    return f();
  } catch (const Error&) {
    if (known) throw;
    return std::nullopt;
  }
}

template <class T>
void check_counts(const CustomAttrs& a, const char* function, const T& got) {
  const auto one = [&](const char* what, std::size_t given, std::size_t needed) {
    check(given == needed, "Custom operator '{}': {} returned {} entries for {} {}", a.op_type,
          function, given, needed, what);
  };
  one("inputs", got.in.size(), a.inputs.size());
  one("outputs", got.out.size(), a.outputs.size());
  one("auxiliary states", got.aux.size(), a.aux.size());
}

/// The references of inputs, outputs and auxiliary states with the members of `got`.
template <class T, class F>
void each(const CustomAttrs& a, const T& got, F&& f) {
  for (int i = 0; i < a.num_in(); ++i) f(Inference::in(i), got.in[static_cast<std::size_t>(i)]);
  for (int i = 0; i < a.num_out(); ++i) f(Inference::out(i), got.out[static_cast<std::size_t>(i)]);
  for (int i = 0; i < a.num_aux(); ++i)
    f(Inference::in(a.num_in() + i), got.aux[static_cast<std::size_t>(i)]);
}

void infer(const CustomAttrs& a, Inference& io) {
  io.opaque(io.out(a.num_out()));
  std::vector<Shape> shapes;
  std::vector<DType> dtypes;
  for (int i = 0; i < a.num_in(); ++i) {
    shapes.push_back(io.shape(io.in(i)));
    dtypes.push_back(io.dtype(io.in(i)));
  }
  const bool shape_known = shapes.empty() || shapes[0].known();
  if (const auto got = ask(shape_known, [&] { return a.op->infer_shape(shapes); })) {
    check_counts(a, "infer_shape", *got);
    const std::string because = "infer_shape of custom operator '" + a.op_type + "' says so";
    each(a, *got, [&](Inference::Ref r, const Shape& shape) { io.set_shape(r, shape, because); });
  }
  const bool type_known = dtypes.empty() || dtypes[0] != DType::kUnknown;
  if (const auto got = ask(type_known, [&] { return a.op->infer_type(dtypes); })) {
    check_counts(a, "infer_type", *got);
    const std::string because = "infer_type of custom operator '" + a.op_type + "' says so";
    each(a, *got, [&](Inference::Ref r, DType dtype) { io.set_dtype(r, dtype, because); });
  }
}

void infer_backward(const CustomAttrs& a, Inference& io) {
  const BackwardInputs at(a);
  for (int i = 0; i < a.num_in(); ++i) {
    const Inference::Ref x = io.in(at.in[static_cast<std::size_t>(i)]);
    io.same_shape(x, io.out(i));
    io.same_dtype(x, io.out(i));
  }
}

NodeEntries gradient(const CustomAttrs& a, GradientBuilder& g) {
  NodeEntries inputs;
  for (int i = 0; i < a.num_out(); ++i)
    if (a.reads_out_grad(i)) inputs.push_back(g.head(i));
  for (int i = 0; i < a.num_in(); ++i) inputs.push_back(g.input(i));
  for (int i = 0; i < a.num_out(); ++i)
    if (a.reads_out(i)) inputs.push_back(g.output(i));
  for (int i = 0; i < a.num_aux(); ++i) inputs.push_back(g.input(a.num_in() + i));
  inputs.push_back(g.output(a.num_out()));
  NodeEntries gradients = g.call_with_same_attrs("_backward_Custom", std::move(inputs));
  gradients.resize(a.inputs.size() + a.aux.size());  // none for the auxiliary states
  return gradients;
}

// ---- Running ------------------------------------------------------------------------------------

/// An object that computes, and its number.
class Instance {
 public:
  static std::shared_ptr<Instance> make(const CustomAttrs& a, Context context,
                                        const std::vector<TensorDesc>& in) {
    std::vector<Shape> shapes;
    std::vector<DType> dtypes;
    for (const TensorDesc& d : in) {
      shapes.push_back(d.shape);
      dtypes.push_back(d.dtype);
    }
    auto made = std::make_shared<Instance>();
    made->op_ = a.op;
    made->kernel_ = a.op->create(context, shapes, dtypes);
    check(made->kernel_ != nullptr, ErrorKind::kState, "Custom operator '{}': create returned null",
          a.op_type);
    const std::lock_guard lock(living().guard);
    made->number_ = ++living().last;
    living().by_number.emplace(made->number_, made);
    return made;
  }
  static std::shared_ptr<Instance> find(std::uint64_t number) {
    const std::lock_guard lock(living().guard);
    const auto it = living().by_number.find(number);
    return it == living().by_number.end() ? nullptr : it->second.lock();
  }
  Instance() = default;
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;
  ~Instance() {  // user objects are destroyed after unlocking
    const std::lock_guard lock(living().guard);
    living().by_number.erase(number_);
  }
  CustomKernel& kernel() const { return *kernel_; }
  std::uint64_t number() const { return number_; }

 private:
  struct Living {
    std::mutex guard;
    std::uint64_t last = 0x5c0de00000000000;  ///< far from what memory holds by chance
    std::map<std::uint64_t, std::weak_ptr<Instance>> by_number;
  };
  static Living& living() {
    static Living& all = *new Living;  // never destroyed: executors may outlive main
    return all;
  }

  CustomDescriptionPtr op_;  ///< outlives what it created
  std::shared_ptr<CustomKernel> kernel_;
  std::uint64_t number_ = 0;
};

/// The memory of a step as arrays.
struct Tensors {
  Context context;
  std::vector<TensorDesc> descs;

  NDArray in_place(int i, void* data) const {
    const TensorDesc& d = descs[static_cast<std::size_t>(i)];
    return NDArray(Storage::wrap(data, d.bytes(), context), d.shape, d.dtype);
  }
  NDArray copy(int i, void* data) const {
    const TensorDesc& d = descs[static_cast<std::size_t>(i)];
    NDArray fresh(d.shape, context, d.dtype);
    if (d.bytes() > 0) in_place(i, data).copy_to(fresh);
    return fresh;
  }
  NDArray zeros(int i) const {
    const TensorDesc& d = descs[static_cast<std::size_t>(i)];
    return NDArray::zeros(d.shape, context, d.dtype);
  }
  /// An operator called by user code may have failed: its error becomes this operator's.
  void take(int i, const NDArray& result, void* data) const {
    result.wait_to_read();
    if (data != nullptr && descs[static_cast<std::size_t>(i)].bytes() > 0)
      result.copy_to(in_place(i, data));
  }
};

std::vector<StoreReq> requests(const Args& args, int count) {
  std::vector<StoreReq> all;
  for (int i = 0; i < count; ++i) all.push_back(args.wants(i) ? StoreReq::kWrite : StoreReq::kNull);
  return all;
}

Offer offer_forward(const CustomAttrs& a, const KernelRequest& r) {
  Offer offer = accept_plain(r);
  offer.opaque_bytes[static_cast<std::size_t>(a.num_out())] = sizeof(std::uint64_t);
  return offer;
}

const TensorDesc kNumber{.shape = {1}, .dtype = DType::kInt64};

void write_number(Context context, void* data, std::uint64_t number) {
  Tensors{context, {kNumber}}.in_place(0, data).copy_from_host(&number, DType::kInt64);
}

std::uint64_t read_number(Context context, void* data) {
  std::uint64_t number = 0;
  if (data != nullptr)
    Tensors{context, {kNumber}}.in_place(0, data).copy_to_host(&number, DType::kInt64);
  return number;
}

Prepared forward(const CustomAttrs& a, const KernelRequest& r, const Offer&) {
  return [instance = Instance::make(a, r.context, r.in), in = Tensors{r.context, r.in},
          out = Tensors{r.context, r.out}, num_in = a.num_in(), num_out = a.num_out(),
          num_aux = a.num_aux(), name = a.op_type](const Args& args) {
    if (args.wants(num_out))
      write_number(in.context, args.outputs[num_out].data, instance->number());
    CustomForward call{.is_train = args.run->is_train,
                       .req = requests(args, num_out),
                       .in = {},
                       .out = {},
                       .aux = {}};
    for (int i = 0; i < num_in; ++i) call.in.push_back(in.copy(i, args.inputs[i].data));
    for (int i = 0; i < num_out; ++i) call.out.push_back(out.zeros(i));
    for (int i = num_in; i < num_in + num_aux; ++i)
      call.aux.push_back(in.copy(i, args.inputs[i].data));
    {
      const profiling::CustomScope scope(name);
      instance->kernel().forward(call);
    }
    for (int i = 0; i < num_out; ++i)
      out.take(i, call.out[static_cast<std::size_t>(i)], args.outputs[i].data);
    for (int i = 0; i < num_aux; ++i)
      in.take(num_in + i, call.aux[static_cast<std::size_t>(i)], args.inputs[num_in + i].data);
  };
}

/// The object that forward used, or a new one.
std::shared_ptr<Instance> instance_for(const CustomAttrs& a, const BackwardInputs& at,
                                       const Tensors& in, std::uint64_t number) {
  if (auto found = Instance::find(number)) return found;
  std::vector<TensorDesc> descs;
  for (const auto* list : {&at.in, &at.aux})
    for (const int i : *list) descs.push_back(in.descs[static_cast<std::size_t>(i)]);
  return Instance::make(a, in.context, descs);
}

Prepared backward(const CustomAttrs& a, const KernelRequest& r, const Offer&) {
  return [a, at = BackwardInputs(a), in = Tensors{r.context, r.in}, out = Tensors{r.context, r.out},
          name = "_backward_" + a.op_type](const Args& args) {
    const auto instance =
        instance_for(a, at, in, read_number(in.context, args.inputs[at.state].data));
    const auto copies = [&](const std::vector<int>& where) {
      std::vector<NDArray> arrays;
      for (const int i : where)
        arrays.push_back(i < 0 ? NDArray() : in.copy(i, args.inputs[i].data));
      return arrays;
    };
    std::vector<int> read_in = at.in;
    for (int i = 0; i < a.num_in(); ++i)
      if (!a.reads_in(i)) read_in[static_cast<std::size_t>(i)] = -1;
    CustomBackward call{.req = requests(args, a.num_in()),
                        .out_grad = copies(at.out_grad),
                        .in = copies(read_in),
                        .out = copies(at.out),
                        .in_grad = {},
                        .aux = copies(at.aux)};
    for (int i = 0; i < a.num_in(); ++i) call.in_grad.push_back(out.zeros(i));
    {
      const profiling::CustomScope scope(name);
      instance->kernel().backward(call);
    }
    for (int i = 0; i < a.num_in(); ++i)
      out.take(i, call.in_grad[static_cast<std::size_t>(i)], args.outputs[i].data);
    for (std::size_t i = 0; i < at.aux.size(); ++i)
      in.take(at.aux[i], call.aux[i], args.inputs[at.aux[i]].data);
  };
}

}  // namespace

void register_custom(OpRegistry& r) {
  r.add<CustomAttrs>("Custom")
      .doc("A user-defined, registered operator; it defines its inputs and further parameters.")
      .rest(take_rest)
      .inputs([](const CustomAttrs& a) { return input_names(a); })
      .outputs([](const CustomAttrs& a) { return output_names(a); },
               [](const CustomAttrs& a) { return a.num_out(); })
      .roles(roles)
      .user_code()
      .starts_gradient()
      .skips_unread()
      .infer(infer)
      .gradient(gradient)
      .kernel_if<kCuda>(DeviceType::kGpu, "custom", offer_forward, forward)
      .kernel(DeviceType::kCpu, "custom", offer_forward, forward);
  r.add<CustomAttrs>("_backward_Custom")
      .backward()
      .inputs([](const CustomAttrs& a) { return BackwardInputs(a).names; })
      .outputs([](const CustomAttrs& a) { return a.inputs; },
               [](const CustomAttrs& a) { return a.num_in(); })
      .roles(backward_roles)
      .user_code()
      .skips_unread()
      .infer(infer_backward)
      .kernel_if<kCuda>(DeviceType::kGpu, "custom", nullptr, backward)
      .kernel(DeviceType::kCpu, "custom", nullptr, backward);
}

}  // namespace symbind
