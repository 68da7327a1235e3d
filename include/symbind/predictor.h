#pragma once
// Predictor: a trained network that any number of threads may call at once.
//
// It holds one set of weights, one plan per shape of the inputs, and as many sets of working memory
// as calls run at the same time. A call takes a set and returns it; calls do not affect each other.
// Dropout, BatchNorm and similar operators run in inference mode.

#include <cstddef>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <symbind/symbol.h>

namespace symbind {

/// An input of a call: an NDArray, or numbers on the host that are read until the call returns.
/// Other element types and devices than the network's are converted.
class InputArray {
 public:
  InputArray(NDArray array) : array_(std::move(array)) {}  // NOLINT: predict({{"data", x}})
  InputArray(const void* data, const Shape& shape, DType dtype)
      : host_(data), shape_(shape), dtype_(dtype) {}
  template <class T>
  InputArray(const T* data, const Shape& shape) : InputArray(data, shape, dtype_of<T>) {}

  bool is_host() const { return !array_.defined() && host_ != nullptr; }
  bool defined() const { return array_.defined() || host_ != nullptr; }
  const NDArray& array() const { return array_; }
  const void* host() const { return host_; }
  const Shape& shape() const { return array_.defined() ? array_.shape() : shape_; }
  DType dtype() const { return array_.defined() ? array_.dtype() : dtype_; }

 private:
  NDArray array_;
  const void* host_ = nullptr;
  Shape shape_;
  DType dtype_ = DType::kFloat32;
};
using InputMap = std::map<std::string, InputArray>;

struct PredictorOptions {
  Context context = cpu();
  /// CPU threads of one call; 0: as many as parallel loops of this thread use. 1 is best with many
  /// callers.
  int threads = 0;
  /// Calls that run at once, each with its own working memory; further calls wait. 0: any number.
  int max_pool = 0;
  /// Number of cached plans (one per shape); the least recently used one is evicted.
  int max_plans = 16;
  /// What to compute instead of the network's outputs: names of `get_internals()`.
  std::vector<std::string> outputs = {};
  /// The inputs, in order; empty: every argument that is neither parameter nor label.
  std::vector<std::string> data_names = {};
  /// Element types of inputs that parameters do not decide; else float32.
  DTypeMap types = {};
  /// Shapes to check and plan for at once; other shapes may follow.
  ShapeMap input_shapes = {};
  bool allow_missing = false;  ///< parameters that are not given are zeros
  bool allow_extra = false;    ///< parameters the network does not have are ignored
  /// Forbids kernels and fusions that trade digits for speed (Winograd, a BatchNorm folded into
  /// weights); SYMBIND_EXACT decides unless given.
  std::optional<bool> exact = {};
  /// "bfloat16": layers may round their inputs and outputs to bfloat16 where the CPU computes with
  /// it; "float32"; empty: SYMBIND_COMPUTE_DTYPE decides.
  std::string compute_dtype = {};
};

struct PredictorStats {
  int plans = 0;                ///< kept now
  std::int64_t plans_made = 0;  ///< since construction
  int pool = 0;                 ///< sets of working memory, in use or not
  std::size_t arena_bytes = 0;  ///< held by the idle sets
  int wired = 0;                ///< plans wired into them, summed over the sets
};

class Predictor {
 public:
  class Impl;
  /// Empty: every call throws kState. So does one that was moved from.
  Predictor() = default;
  /// Parameters are copied: later changes of the given arrays have no effect.
  Predictor(const Symbol& symbol, const NDArrayMap& args, const NDArrayMap& aux = {},
            const PredictorOptions& options = {});
  /// `prefix-symbol.json` and `prefix-%04d.params`.
  static Predictor load(const std::string& prefix, int epoch, const PredictorOptions& options = {});
  static Predictor from_files(const std::string& symbol_path, const std::string& params_path,
                              const PredictorOptions& options = {});
  /// The contents of such files.
  static Predictor from_memory(std::string_view symbol_json, std::span<const std::byte> params,
                               const PredictorOptions& options = {});

  /// Runs the network; each call may have other input shapes. The caller owns the outputs. Any
  /// number of threads may call; an error in one call does not affect others.
  std::vector<NDArray> predict(const InputMap& inputs) const;
  /// Inputs in the order of input_names().
  std::vector<NDArray> predict(const std::vector<InputArray>& inputs) const;
  std::vector<NDArray> predict(std::initializer_list<InputArray> inputs) const {
    return predict(std::vector<InputArray>(inputs));
  }
  std::vector<NDArray> predict(const InputArray& input) const {
    return predict(std::vector<InputArray>{input});
  }
  /// Makes the plan for these shapes in advance.
  void prepare(const ShapeMap& shapes) const;
  /// The shapes of the outputs for inputs of these shapes.
  std::vector<Shape> output_shapes(const ShapeMap& shapes) const;

  const std::vector<std::string>& input_names() const;
  /// Arguments no output depends on: a call may omit them.
  const std::vector<std::string>& label_names() const;
  const std::vector<std::string>& output_names() const;
  /// The names of what is computed: the outputs, or the chosen internals.
  const Symbol& symbol() const;
  int threads() const;
  PredictorStats stats() const;
  const std::shared_ptr<const Impl>& impl() const { return impl_; }

 private:
  explicit Predictor(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<const Impl> impl_;
};

}  // namespace symbind
