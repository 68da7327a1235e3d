// The C predict API over Predictor. Functions return a status and set an error text; they never
// throw.

#include <symbind/c_predict_api.h>

#include <algorithm>
#include <span>

#include <fmt/ranges.h>

#include "base/limits.h"
#include "base/nearest.h"
#include "base/parallel.h"
#include "predict/c_guard.h"
#include "predict/c_handles.h"
#include "predict/predictor_impl.h"

namespace symbind {
namespace {

using c_api::given;

/// One handle: handles share a network's weights; each has its own inputs and outputs.
struct CPredictor {
  static constexpr const char* kTitle = "PredictorHandle";
  static constexpr std::uintptr_t kTag = 1;

  CPredictor(Predictor made, const ShapeMap& shapes) : predictor(std::move(made)) {
    const Network& network = predictor.impl()->network();
    const Signature signature = network.inferred(network.signature(shapes));
    const auto entry = predictor.impl()->planned(signature);
    for (std::size_t i = 0; i < signature.size(); ++i)
      inputs.push_back(
          NDArray::zeros(signature[i], network.context(), entry->planned.input_types[i]));
    outputs_as = entry->planned.outputs;
  }

  const TensorDesc& output(std::uint32_t index) const {
    check(index < outputs_as.size(), ErrorKind::kIndex, "output {} was requested; there are {}: {}",
          index, outputs_as.size(), fmt::join(predictor.output_names(), ", "));
    return outputs_as[index];
  }

  Predictor::Impl::Inputs call_inputs() const { return {inputs.begin(), inputs.end()}; }

  void forward() {
    partial.reset();
    PredictorRun run(*predictor.impl(), call_inputs());
    run.run(0, run.num_steps());
    outputs = std::move(run).outputs();
  }

  int partial_forward(int step) {
    check(step >= 0, "step is {}; steps begin at 0", step);
    if (step == 0) {
      partial.reset();
      partial = std::make_unique<PredictorRun>(*predictor.impl(), call_inputs());
      next = 0;
    }
    if (partial == nullptr && !outputs.empty()) return 0;  // after the last step
    check(partial != nullptr && step == next, ErrorKind::kState,
          "step {} cannot follow step {}\n  fix:  begin with step 0 and increase by one", step,
          partial == nullptr ? -1 : next - 1);
    const int last = static_cast<int>(partial->num_steps());
    if (next < last) {
      partial->run(static_cast<std::size_t>(next), static_cast<std::size_t>(next) + 1);
      ++next;
    }
    if (next == last) {
      outputs = std::move(*partial).outputs();
      partial.reset();
    }
    return last - next;
  }

  std::mutex guard;  ///< one call at a time
  Predictor predictor;
  std::vector<NDArray> inputs;  ///< labels too, by the network's order
  std::vector<TensorDesc> outputs_as;
  std::vector<NDArray> outputs;  ///< of the last run
  std::unique_ptr<PredictorRun> partial;
  int next = 0;
  std::vector<std::uint32_t> shape_shown;
};

/// Exclusive use of a handle during this object's lifetime.
struct Held {
  explicit Held(PredictorHandle handle)
      : object(CHandles<CPredictor>::all().get(handle)), lock(object->guard) {}
  CPredictor* operator->() const { return object.get(); }
  std::shared_ptr<CPredictor> object;
  std::lock_guard<std::mutex> lock;
};

struct GivenShapes {
  std::uint32_t count;
  const char** keys;
  const std::uint32_t* begins;
  const std::uint32_t* dims;

  ShapeMap map() const {
    ShapeMap shapes;
    if (count == 0) return shapes;
    given(keys, "input_keys");
    given(begins, "input_shape_indptr");
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::string name = given(keys[i], "a name in input_keys");
      check(begins[i] <= begins[i + 1] && begins[i + 1] - begins[i] <= kMaxRank,
            "input_shape_indptr goes from {} to {} for '{}'; it must ascend by at most {}",
            begins[i], begins[i + 1], name, kMaxRank);
      Shape shape;
      for (std::uint32_t d = begins[i]; d < begins[i + 1]; ++d)
        shape.push_back(given(dims, "input_shape_data")[d]);
      check(shapes.emplace(name, shape).second, ErrorKind::kName, "input_keys has '{}' twice",
            name);
    }
    return shapes;
  }
};

/// As in MXNet, names the network does not have are ignored; an error lists them if an input is
/// missing.
CPredictor* make_handle_object(const Predictor& predictor, ShapeMap shapes) {
  std::string unknown;
  const std::vector<Network::Input>& inputs = predictor.impl()->network().inputs();
  std::vector<std::string> names;
  for (const Network::Input& input : inputs) names.push_back(input.name);
  std::erase_if(shapes, [&](const auto& given) {
    const bool known = std::ranges::find(names, given.first) != names.end();
    if (!known)
      unknown += fmt::format("\n  input_keys has '{}', which is not an input; {}", given.first,
                             nearest_hint(given.first, names));
    return !known;
  });
  try {
    return new CPredictor(predictor, shapes);
  } catch (const Error& e) {
    throw Error(e.kind(), e.what() + unknown);
  }
}

struct Created {
  const char* json;
  const void* params;
  int params_bytes;
  int dev_type, dev_id;
  GivenShapes shapes;
  std::vector<std::string> outputs = {};
  DTypeMap types = {};
  int handles = 1;
};

void create(const Created& how, PredictorHandle* out) {
  given(how.json, "symbol_json_str");
  given(how.params, "param_bytes");
  given(out, "out");
  check(how.params_bytes >= 0, "param_size is {}", how.params_bytes);
  check(how.dev_type == 1 || how.dev_type == 2 || how.dev_type == 3,
        "dev_type is {}; 1 is the CPU, 2 a GPU", how.dev_type);
  check(how.handles >= 1, "num_threads is {}; it must be at least 1", how.handles);
  check_limit(Limit::kThreads, how.handles, "MXPredCreateMultiThread");
  const ShapeMap shapes = how.shapes.map();
  PredictorOptions options{.context = how.dev_type == 2 ? gpu(how.dev_id) : cpu(how.dev_id),
                           .threads = std::max(1, num_threads() / how.handles),
                           .allow_extra = true};
  const Symbol symbol = Symbol::load_json(how.json);
  const std::vector<std::string> arguments = symbol.list_arguments();
  for (const auto& [name, type] : how.types)
    if (std::ranges::find(arguments, name) != arguments.end()) options.types.emplace(name, type);
  for (const std::string& node : how.outputs) options.outputs.push_back(node + "_output");
  const Predictor predictor =
      Predictor::from_memory(how.json,
                             std::span(static_cast<const std::byte*>(how.params),
                                       static_cast<std::size_t>(how.params_bytes)),
                             options);
  std::vector<std::shared_ptr<CPredictor>> made;
  for (int i = 0; i < how.handles; ++i) made.emplace_back(make_handle_object(predictor, shapes));
  for (int i = 0; i < how.handles; ++i)
    out[i] = CHandles<CPredictor>::all().add(std::move(made[static_cast<std::size_t>(i)]));
}

std::vector<std::string> names_from(std::uint32_t count, const char** names, const char* what) {
  std::vector<std::string> all;
  for (std::uint32_t i = 0; i < count; ++i) all.emplace_back(given(given(names, what)[i], what));
  return all;
}

}  // namespace
}  // namespace symbind

using namespace symbind;
using c_api::given;
using c_api::guarded;

int MXPredCreate(const char* symbol_json_str, const void* param_bytes, int param_size, int dev_type,
                 int dev_id, uint32_t num_input_nodes, const char** input_keys,
                 const uint32_t* input_shape_indptr, const uint32_t* input_shape_data,
                 PredictorHandle* out) {
  return guarded([&] {
    create({symbol_json_str,
            param_bytes,
            param_size,
            dev_type,
            dev_id,
            {num_input_nodes, input_keys, input_shape_indptr, input_shape_data}},
           out);
  });
}

int MXPredCreateEx(const char* symbol_json_str, const void* param_bytes, int param_size,
                   int dev_type, int dev_id, const uint32_t num_input_nodes,
                   const char** input_keys, const uint32_t* input_shape_indptr,
                   const uint32_t* input_shape_data, const uint32_t num_provided_arg_dtypes,
                   const char** provided_arg_dtype_names, const int* provided_arg_dtypes,
                   PredictorHandle* out) {
  return guarded([&] {
    DTypeMap types;
    const auto names =
        names_from(num_provided_arg_dtypes, provided_arg_dtype_names, "provided_arg_dtype_names");
    for (std::size_t i = 0; i < names.size(); ++i) {
      const int number = given(provided_arg_dtypes, "provided_arg_dtypes")[i];
      types[names[i]] = dtype_from_name(std::to_string(number));
    }
    create({symbol_json_str,
            param_bytes,
            param_size,
            dev_type,
            dev_id,
            {num_input_nodes, input_keys, input_shape_indptr, input_shape_data},
            {},
            types},
           out);
  });
}

int MXPredCreatePartialOut(const char* symbol_json_str, const void* param_bytes, int param_size,
                           int dev_type, int dev_id, uint32_t num_input_nodes,
                           const char** input_keys, const uint32_t* input_shape_indptr,
                           const uint32_t* input_shape_data, uint32_t num_output_nodes,
                           const char** output_keys, PredictorHandle* out) {
  return guarded([&] {
    create({symbol_json_str,
            param_bytes,
            param_size,
            dev_type,
            dev_id,
            {num_input_nodes, input_keys, input_shape_indptr, input_shape_data},
            names_from(num_output_nodes, output_keys, "output_keys")},
           out);
  });
}

int MXPredCreateMultiThread(const char* symbol_json_str, const void* param_bytes, int param_size,
                            int dev_type, int dev_id, uint32_t num_input_nodes,
                            const char** input_keys, const uint32_t* input_shape_indptr,
                            const uint32_t* input_shape_data, int num_threads,
                            PredictorHandle* out) {
  return guarded([&] {
    create({symbol_json_str,
            param_bytes,
            param_size,
            dev_type,
            dev_id,
            {num_input_nodes, input_keys, input_shape_indptr, input_shape_data},
            {},
            {},
            num_threads},
           out);
  });
}

int MXPredReshape(uint32_t num_input_nodes, const char** input_keys,
                  const uint32_t* input_shape_indptr, const uint32_t* input_shape_data,
                  PredictorHandle handle, PredictorHandle* out) {
  return guarded([&] {
    given(out, "out");
    const Held held(handle);
    ShapeMap shapes =
        GivenShapes{num_input_nodes, input_keys, input_shape_indptr, input_shape_data}.map();
    const std::vector<Network::Input>& inputs = held->predictor.impl()->network().inputs();
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (!inputs[i].is_label) shapes.emplace(inputs[i].name, held->inputs[i].shape());
    *out = CHandles<CPredictor>::all().add(
        std::shared_ptr<CPredictor>(make_handle_object(held->predictor, shapes)));
  });
}

int MXPredGetOutputShape(PredictorHandle handle, uint32_t index, uint32_t** shape_data,
                         uint32_t* shape_ndim) {
  return guarded([&] {
    given(shape_data, "shape_data");
    given(shape_ndim, "shape_ndim");
    const Held held(handle);
    const Shape& shape = held->output(index).shape;
    held->shape_shown.assign(shape.begin(), shape.end());
    *shape_data = held->shape_shown.data();
    *shape_ndim = static_cast<uint32_t>(shape.rank());
  });
}

int MXPredGetOutputType(PredictorHandle handle, uint32_t out_index, int* out_dtype) {
  return guarded([&] {
    given(out_dtype, "out_dtype");
    *out_dtype = static_cast<int>(Held(handle)->output(out_index).dtype);
  });
}

int MXPredSetInput(PredictorHandle handle, const char* key, const float* data, uint32_t size) {
  return guarded([&] {
    given(key, "key");
    given(data, "data");
    const Held held(handle);
    const Network& network = held->predictor.impl()->network();
    const auto it = std::ranges::find(network.inputs(), key, &Network::Input::name);
    if (it == network.inputs().end()) network.fail_unknown(key);
    NDArray& array = held->inputs[static_cast<std::size_t>(it - network.inputs().begin())];
    check(array.size() == size, ErrorKind::kShape,
          "size is {}, but input '{}' has shape {}: {} elements", size, key, array.shape().str(),
          array.size());
    array.copy_from_host(data, array.dtype());
  });
}

int MXPredForward(PredictorHandle handle) {
  return guarded([&] { Held(handle)->forward(); });
}

int MXPredPartialForward(PredictorHandle handle, int step, int* step_left) {
  return guarded([&] {
    given(step_left, "step_left");
    *step_left = Held(handle)->partial_forward(step);
  });
}

int MXPredGetOutput(PredictorHandle handle, uint32_t index, float* data, uint32_t size) {
  return guarded([&] {
    given(data, "data");
    const Held held(handle);
    const TensorDesc& desc = held->output(index);
    check(!held->outputs.empty(), ErrorKind::kState,
          "there is no output yet\n  fix:  call MXPredForward first");
    check(desc.shape.size() == size, ErrorKind::kShape,
          "size is {}, but output {} has shape {}: {} elements", size, index, desc.shape.str(),
          desc.shape.size());
    held->outputs[index].copy_to_host(data, desc.dtype);
  });
}

int MXPredFree(PredictorHandle handle) {
  return guarded([&] { CHandles<CPredictor>::all().remove(handle); });
}
