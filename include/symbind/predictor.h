#pragma once
// Predictor: a trained network that any number of threads may ask at once.
//
// It holds one set of weights, one plan per shape of the inputs, and as many sets of working memory
// as calls run at the same time. A call takes what it needs and gives it back; nothing a call does
// is seen by another. Dropout, BatchNorm and their kin run as they do outside training.

#include <cstddef>
#include <initializer_list>
#include <map>
#include <memory>
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
  /// CPU threads of one call; 0: as many as loops of this thread use. With many callers 1 is best.
  int threads = 0;
  /// Calls that run at once, each with working memory of its own; further ones wait. 0: any number.
  int max_pool = 0;
  /// Shapes whose plans are kept; the one not asked for longest goes first.
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
  bool allow_extra = false;    ///< parameters the network does not have are passed over
};

struct PredictorStats {
  int plans = 0;                ///< kept now
  std::int64_t plans_made = 0;  ///< since the beginning
  int pool = 0;                 ///< sets of working memory, in use or not
  std::size_t arena_bytes = 0;  ///< what those that are not in use hold
  int wired = 0;                ///< plans they are wired for, each counted in each
};

class Predictor {
 public:
  class Impl;
  /// Empty: every call throws kState. So does one that was moved from.
  Predictor() = default;
  /// Parameters are copied: what happens to the given arrays later does not matter.
  Predictor(const Symbol& symbol, const NDArrayMap& args, const NDArrayMap& aux = {},
            const PredictorOptions& options = {});
  /// `prefix-symbol.json` and `prefix-%04d.params`.
  static Predictor load(const std::string& prefix, int epoch, const PredictorOptions& options = {});
  static Predictor from_files(const std::string& symbol_path, const std::string& params_path,
                              const PredictorOptions& options = {});
  /// The contents of such files.
  static Predictor from_memory(std::string_view symbol_json, std::span<const std::byte> params,
                               const PredictorOptions& options = {});

  /// Runs the network; the shapes of the inputs are each call's own. The outputs belong to the
  /// caller. Any number of threads may call; an error of one call is nothing to the others.
  std::vector<NDArray> predict(const InputMap& inputs) const;
  /// Inputs in the order of input_names().
  std::vector<NDArray> predict(const std::vector<InputArray>& inputs) const;
  std::vector<NDArray> predict(std::initializer_list<InputArray> inputs) const {
    return predict(std::vector<InputArray>(inputs));
  }
  std::vector<NDArray> predict(const InputArray& input) const {
    return predict(std::vector<InputArray>{input});
  }
  /// Makes the plan for these shapes, so that the first call with them finds it.
  void prepare(const ShapeMap& shapes) const;
  /// The shapes of the outputs for inputs of these shapes.
  std::vector<Shape> output_shapes(const ShapeMap& shapes) const;

  const std::vector<std::string>& input_names() const;
  /// Arguments no output depends on: a call may leave them out.
  const std::vector<std::string>& label_names() const;
  const std::vector<std::string>& output_names() const;
  /// What is computed; where internals were asked for, they.
  const Symbol& symbol() const;
  int threads() const;
  PredictorStats stats() const;
  const std::shared_ptr<const Impl>& impl() const { return impl_; }

 private:
  explicit Predictor(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<const Impl> impl_;
};

}  // namespace symbind
