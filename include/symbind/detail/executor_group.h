#pragma once
// ExecutorGroup: one network on several devices, each with its share of the batch.
//
// The arrays it lists are the executors' own: after a run they hold what the run wrote.

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <symbind/executor.h>
#include <symbind/io.h>

namespace symbind {

class DeviceThreads;
class EvalMetric;
class Team;

/// Rows [begin, end) of a batch.
struct BatchSlice {
  std::int64_t begin = 0, end = 0;
  std::int64_t size() const { return end - begin; }
  bool operator==(const BatchSlice&) const = default;
};

/// The rows of each device, in proportion to its work load: sizes are rounded half to even, the
/// remainder goes to the last. An empty share throws "Too many slices. Some splits are empty."
std::vector<BatchSlice> split_batch(std::int64_t batch_size, const std::vector<double>& work_load);

/// A device's array and the rows of the batch it holds.
struct SlicedArray {
  BatchSlice rows;
  NDArray array;
};
/// One array per device.
using DeviceArrays = std::vector<NDArray>;

struct GroupOptions {
  std::vector<double> work_load = {};  ///< one per device; empty is equal shares
  std::vector<DataDesc> data_shapes = {};
  std::optional<std::vector<DataDesc>> label_shapes = {};
  std::vector<std::string> param_names = {};
  bool for_training = true;
  bool inputs_need_grad = false;
  const class ExecutorGroup* shared_group = nullptr;  ///< shares its arrays and memory
  std::vector<std::string> fixed_param_names = {};
  GradReqArg grad_req = "write";
  std::vector<std::string> state_names = {};
  std::vector<ContextMap> group2ctxs = {};  ///< ctx_group → device, one map per device; or empty
  std::optional<bool> exact = {};           ///< as of SimpleBindOptions
  std::string compute_dtype = {};           ///< as of SimpleBindOptions
};

class ExecutorGroup {
 public:
  ExecutorGroup(const Symbol& symbol, const std::vector<Context>& contexts,
                const GroupOptions& options);

  /// Executors for other shapes, over the arrays of those bound first.
  void reshape(const std::vector<DataDesc>& data_shapes,
               const std::optional<std::vector<DataDesc>>& label_shapes);
  /// Whether a batch has the shapes the executors have, and labels only if those are fed any.
  bool fits(const DataBatch& batch) const;
  /// Calls reshape if a batch has other shapes: those it declares, else its arrays'.
  void reshape_for(const DataBatch& batch);
  /// Copies parameters to every device; unknown names throw unless `allow_extra`.
  void set_params(const NDArrayMap& args, const NDArrayMap& aux, bool allow_extra = false);
  /// The mean over the devices, written into the given arrays.
  void get_params(NDArrayMap& args, NDArrayMap& aux) const;

  /// Copies each device its rows. Labels are unchanged if the batch has none.
  void load(const DataBatch& batch);
  /// The same with one batch per device.
  void load(const std::vector<DataBatch>& batches);
  /// Runs what was loaded on all devices; for_training is the default.
  void forward(std::optional<bool> is_train = {});
  void backward(const std::vector<NDArray>& out_grads = {});
  void forward_backward();

  /// Outputs joined along their batch axis (one device: the outputs themselves).
  std::vector<NDArray> get_outputs() const;
  std::vector<DeviceArrays> device_outputs() const;
  std::vector<NDArray> get_input_grads() const;
  std::vector<std::pair<std::string, Shape>> output_shapes() const;
  void set_states(const std::vector<DeviceArrays>& states);
  void set_states(double value);
  /// Updates the metric with each device's rows of `labels` and its outputs.
  void update_metric(EvalMetric& metric, const std::vector<NDArray>& labels) const;
  /// The same with separate labels for each device.
  void update_metric(EvalMetric& metric, const std::vector<std::vector<NDArray>>& labels) const;
  void set_monitor_callback(const MonitorCallback& callback, bool all = false);

  const Symbol& symbol() const { return symbol_; }
  const std::vector<Context>& contexts() const { return contexts_; }
  const GroupOptions& options() const { return options_; }
  std::int64_t batch_size() const { return batch_size_; }
  const std::vector<BatchSlice>& slices() const { return slices_; }
  std::vector<Executor>& execs() { return execs_; }
  const std::vector<Executor>& execs() const { return execs_; }
  /// Whether a monitor or a guard watches the nodes of a run: a step then runs verb by verb.
  bool is_watched() const;
  const std::vector<DataDesc>& data_shapes() const { return options_.data_shapes; }
  const std::optional<std::vector<DataDesc>>& label_shapes() const { return options_.label_shapes; }
  const std::vector<std::string>& arg_names() const { return arg_names_; }
  const std::vector<std::string>& aux_names() const { return aux_names_; }
  const std::vector<std::string>& output_names() const { return output_names_; }
  /// What each argument's gradient was resolved to.
  const std::map<std::string, std::string>& grad_req() const { return grad_req_; }
  /// Batch axes; -1 where there is none.
  const std::vector<int>& data_layouts() const { return data_layouts_; }
  const std::vector<int>& label_layouts() const { return label_layouts_; }
  const std::vector<int>& output_layouts() const { return output_layouts_; }

  const std::vector<std::vector<SlicedArray>>& data_arrays() const { return data_arrays_; }
  const std::vector<std::vector<SlicedArray>>& label_arrays() const { return label_arrays_; }
  const std::vector<DeviceArrays>& param_arrays() const { return param_arrays_; }
  /// In the order of param_arrays; undefined arrays where no gradient is computed.
  const std::vector<DeviceArrays>& grad_arrays() const { return grad_arrays_; }
  const std::vector<DeviceArrays>& aux_arrays() const { return aux_arrays_; }
  const std::vector<DeviceArrays>& state_arrays() const { return state_arrays_; }
  const std::vector<DeviceArrays>& input_grad_arrays() const { return input_grad_arrays_; }
  /// The inputs that buckets share, by name, one map per device.
  std::vector<NDArrayMap>& shared_data_arrays() { return *shared_data_arrays_; }
  /// The threads of several devices, for work between their runs; null when there are none.
  Team* team() const;
  /// What MXNet reports as the executors' memory, in MB.
  std::int64_t total_exec_megabytes() const { return total_exec_megabytes_; }

 private:
  void decide_slices();
  void bind_all();
  Executor bind_one(std::size_t device);
  std::vector<DataDesc> sliced(const std::vector<DataDesc>& shapes, const std::vector<int>& axes,
                               std::size_t device) const;
  ShapeMap input_shapes(std::size_t device) const;
  void collect_arrays();
  void load_slices(const std::vector<NDArray>& sources,
                   const std::vector<std::vector<SlicedArray>>& targets,
                   const std::vector<int>& axes, const char* what) const;
  void show(EvalMetric& metric, std::span<const NDArray> labels, std::size_t device) const;

  Symbol symbol_;
  std::vector<Context> contexts_;
  GroupOptions options_;
  std::optional<std::vector<DataDesc>> bound_labels_;  ///< labels before a batch without them
  std::vector<std::string> arg_names_, aux_names_, output_names_;
  std::map<std::string, std::string> grad_req_;
  std::shared_ptr<DeviceThreads> threads_;
  std::shared_ptr<std::vector<NDArrayMap>> shared_data_arrays_;
  std::int64_t batch_size_ = 0;
  std::vector<BatchSlice> slices_;
  std::vector<int> data_layouts_, label_layouts_, output_layouts_;
  std::vector<Executor> execs_, default_execs_;
  std::vector<std::vector<SlicedArray>> data_arrays_, label_arrays_;
  std::vector<DeviceArrays> param_arrays_, grad_arrays_, aux_arrays_, state_arrays_,
      input_grad_arrays_;
  std::int64_t total_exec_megabytes_ = 0;

  struct Shown {
    NamedArrays labels, preds;
    std::vector<NDArray> rows;  ///< of one device
  };
  mutable Shown shown_;  ///< lists for a metric, empty between its updates
};

}  // namespace symbind
