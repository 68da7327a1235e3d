#include "executor/imperative.h"

#include <algorithm>
#include <list>
#include <mutex>
#include <unordered_map>

#include <fmt/format.h>
#include <symbind/runtime.h>

#include "base/check.h"
#include "base/parallel.h"
#include "base/settings.h"
#include "device/runtime.h"
#include "graph/select_kernel.h"

namespace symbind {
namespace {

// Least recently used entries are evicted; the bound keeps a long-running process small.
template <class T>
class Cache {
 public:
  std::shared_ptr<const T> find(const std::string& key) {
    const std::lock_guard lock(mutex_);
    const auto it = by_key_.find(key);
    if (it == by_key_.end()) return nullptr;
    order_.splice(order_.begin(), order_, it->second);
    return it->second->second;
  }
  void insert(const std::string& key, std::shared_ptr<const T> kernel) {
    const std::lock_guard lock(mutex_);
    if (by_key_.contains(key)) return;
    order_.emplace_front(key, std::move(kernel));
    by_key_.emplace(key, order_.begin());
    if (order_.size() <= kCapacity) return;
    by_key_.erase(order_.back().first);
    order_.pop_back();
  }

 private:
  static constexpr std::size_t kCapacity = 1024;
  using Entry = std::pair<std::string, std::shared_ptr<const T>>;
  std::mutex mutex_;
  std::list<Entry> order_;
  std::unordered_map<std::string, typename std::list<Entry>::iterator> by_key_;
};

template <class T>
Cache<T>& cache() {
  static auto& all = *new Cache<T>;  // never destroyed: threads may outlive main
  return all;
}

class KeyWriter {
 public:
  explicit KeyWriter(std::string& key) : key_(key) { key_.clear(); }
  template <class T>
  requires std::is_trivially_copyable_v<T> KeyWriter& operator()(const T& value) {
    key_.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  KeyWriter& operator()(const std::string& text) {
    (*this)(text.size());
    key_.append(text);
    return *this;
  }
  KeyWriter& operator()(const Shape& shape) {
    (*this)(shape.rank());
    for (const std::int64_t dim : shape) (*this)(dim);
    return *this;
  }

 private:
  std::string& key_;
};

std::string key_of(const OpDef& op, const void* attrs, const std::vector<TensorDesc>& in,
                   Context context, const KernelQuery& query) {
  std::string key =
      fmt::format("{}|{}|{}|{}|{}|{}|{}|", op.name, is_np_shape(), static_cast<int>(context.type),
                  num_threads(), query.out_shape.str(), query.name, query.training);
  for (const bool wanted : query.outputs) key += wanted ? '1' : '0';
  for (const char* name : {"SYMBIND_KERNELS", "SYMBIND_EXACT", "SYMBIND_CHECK"})
    key.append("|").append(settings::text(name));
  // describe() binds to the instance; the instance is only read here.
  for (const auto& [name, value] : attrs_to_dict(op.describe(const_cast<void*>(attrs)), false)) {
    key += fmt::format("|{}={}", name, value);
  }
  for (const TensorDesc& d : in)
    key += fmt::format("|{}{}", static_cast<int>(d.dtype), d.shape.str());
  return key;
}

void infer(const OpDef& op, const void* attrs, const std::vector<TensorDesc>& in,
           const Shape& out_shape, KernelRequest& request, std::vector<bool>& opaque) {
  std::vector<Shape> in_shapes, out_shapes(op.output_names(attrs).size(), Shape::unknown());
  std::vector<DType> in_dtypes, out_dtypes(out_shapes.size(), DType::kUnknown);
  check(!out_shapes.empty(), ErrorKind::kType, "{} was given no arrays", op.name);
  out_shapes.front() = out_shape;
  for (const TensorDesc& d : in) {
    in_shapes.push_back(d.shape);
    in_dtypes.push_back(d.dtype);
  }
  Inference io(in_shapes, out_shapes, in_dtypes, out_dtypes);
  try {
    op.infer(attrs, io);
    op.infer(attrs, io);
  } catch (const Inference::Conflict& c) {
    const std::vector<std::string> names =
        c.where.output ? op.output_names(attrs) : op.input_names(attrs);
    fail(ErrorKind::kShape, "{} cannot take its inputs\n  {}  given {}   needed {}    because {}",
         op.name, names.at(static_cast<std::size_t>(c.where.index)), c.given, c.needed,
         c.because.empty() ? "of the other inputs and the parameters" : c.because);
  }
  for (std::size_t o = 0; o < out_shapes.size(); ++o) {
    check(out_shapes[o].known(), ErrorKind::kShape, "{}: the shape of output {} cannot be decided",
          op.name, o);
    const DType dtype = out_dtypes[o] == DType::kUnknown ? DType::kFloat32 : out_dtypes[o];
    request.out.push_back({.shape = out_shapes[o], .dtype = dtype});
    opaque.push_back(io.is_opaque(static_cast<int>(o)));
  }
}

std::shared_ptr<const ImperativeKernel> make_kernel(const OpDef& op, const void* attrs,
                                                    const std::vector<TensorDesc>& in,
                                                    Context context, const KernelQuery& query) {
  runtime(context).make_current();  // kernels query what this device supports
  auto made = std::make_shared<ImperativeKernel>();
  made->op = &op;
  made->num_visible = op.num_visible(attrs);
  for (std::size_t i = 0; i < in.size(); ++i)
    if (op.mutates(attrs, static_cast<int>(i))) made->mutated.push_back(i);
  KernelRequest request;
  request.device = in_gpu_memory(context) ? DeviceType::kGpu : DeviceType::kCpu;
  request.context = context;
  request.in = in;
  request.threads = num_threads();
  request.training = query.training;
  request.exact = settings::flag("SYMBIND_EXACT");
  infer(op, attrs, in, query.out_shape, request, made->opaque);
  request.constant.assign(in.size(), false);
  request.wanted = query.outputs;
  for (std::size_t o = request.wanted.size(); o < request.out.size(); ++o)
    request.wanted.push_back(static_cast<int>(o) < made->num_visible);
  const KernelChoice choice =
      select_kernel(op, attrs, request, op.name, {.only = query.name, .plain_only = true});
  const Offer& offer = choice.offer;
  for (std::size_t i = 0; i < request.in.size(); ++i) request.in[i].layout = offer.in_layouts[i];
  for (std::size_t o = 0; o < request.out.size(); ++o) {
    request.out[o].layout = offer.out_layouts[o];
    if (made->opaque[o])
      request.out[o].shape = Shape{static_cast<std::int64_t>(offer.opaque_bytes[o])};
  }
  made->name = choice.kernel->name;
  made->run = choice.kernel->prepare(attrs, request, offer);
  made->workspace_bytes = offer.workspace_bytes;
  made->out = request.out;
  made->place_scratch(request.wanted);
  return made;
}

}  // namespace

void ImperativeKernel::place_scratch(const std::vector<bool>& wanted) {
  constexpr std::size_t kAlign = 64;
  const auto aligned = [](std::size_t bytes) { return (bytes + kAlign - 1) / kAlign * kAlign; };
  for (std::size_t o = 0; o < out.size(); ++o) {
    if (wanted[o] || static_cast<int>(o) >= op->skips_unread_from) continue;
    if (opaque[o] && out[o].bytes() == 0) continue;  // the kernel saves nothing
    scratch.emplace_back(o, aligned(workspace_bytes));
    workspace_bytes = scratch.back().second + std::max<std::size_t>(out[o].bytes(), 1);
  }
}

void ImperativeKernel::give_scratch(std::span<TensorArg> out_args, void* workspace) const {
  for (const auto& [o, offset] : scratch)
    out_args[o] = {.data = static_cast<std::byte*>(workspace) + offset, .storage = nullptr};
}

std::shared_ptr<const ImperativeKernel> imperative_kernel(const OpDef& op,
                                                          const std::shared_ptr<const void>& attrs,
                                                          const std::vector<TensorDesc>& in,
                                                          Context context,
                                                          const KernelQuery& query) {
  if (op.runs_user_code) return make_kernel(op, attrs.get(), in, context, query);
  const std::string key = key_of(op, attrs.get(), in, context, query);
  if (auto found = cache<ImperativeKernel>().find(key)) return found;
  auto made = make_kernel(op, attrs.get(), in, context, query);
  cache<ImperativeKernel>().insert(key, made);
  return made;
}

namespace {

std::shared_ptr<const ImperativeCall> make_call(const OpDef& op, std::span<const NDArray> inputs,
                                                const CallOptions& options, Context context,
                                                const Shape& out_shape, bool recorded) {
  auto made = std::make_shared<ImperativeCall>();
  made->given = options.dict(options.options);
  const auto parsed = parse_node_attrs(op, op.name, made->given, inputs.size());
  check_inputs(op, parsed.get(), inputs);
  std::vector<TensorDesc> in;
  for (const NDArray& a : inputs) in.push_back({.shape = a.shape(), .dtype = a.dtype()});
  KernelQuery query{.out_shape = out_shape, .training = recorded};
  if (op.shape_from_values)
    query.out_shape = op.shape_from_values(parsed.get(), {inputs.begin(), inputs.end()});
  if (recorded) {
    made->reads = gradient_reads(op, parsed);
    query.outputs = made->reads.out;
    const auto visible = static_cast<std::size_t>(op.num_visible(parsed.get()));
    for (std::size_t o = 0; o < visible && o < query.outputs.size(); ++o) query.outputs[o] = true;
  }
  made->attrs = parsed;
  made->kernel = imperative_kernel(op, parsed, in, context, query);
  made->values = per_call_values(op.describe(const_cast<void*>(parsed.get())));
  return made;
}

}  // namespace

CallOptions CallOptions::of(const AttrDict& attrs) {
  return {
      &attrs,
      [](const void* o, std::string& key) { OptionKey(key).add(*static_cast<const AttrDict*>(o)); },
      [](const void* o) { return *static_cast<const AttrDict*>(o); }};
}

std::shared_ptr<const ImperativeCall> imperative_call(const OpDef& op,
                                                      std::span<const NDArray> inputs,
                                                      const CallOptions& options, Context context,
                                                      const Shape& out_shape, bool recorded) {
  if (op.runs_user_code || op.shape_from_values)
    return make_call(op, inputs, options, context, out_shape, recorded);
  thread_local std::string key;
  KeyWriter write(key);
  // Options in different representations differ by their writers.
  write (&op)(settings::stamp())(is_np_shape())(context.type)(num_threads())(
      out_shape)(recorded)(options.append_key)(inputs.size());
  for (const NDArray& a : inputs) {
    check(a.defined(), ErrorKind::kType, "{}: an input is not an array", op.name);
    write(a.dtype())(a.context().type)(a.context().id)(a.shape());
  }
  options.append_key(options.options, key);
  if (auto found = cache<ImperativeCall>().find(key)) return found;
  auto made = make_call(op, inputs, options, context, out_shape, recorded);
  cache<ImperativeCall>().insert(key, made);
  return made;
}

}  // namespace symbind
