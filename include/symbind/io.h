#pragma once
// Data: batches, the iterators that produce them, and those that read files.
//
// An iterator fills a DataBatch the caller holds. The next call overwrites arrays of that batch
// that have no other owner, so a loop over one batch allocates nothing after its first iteration.
// An NDArray copied out of a batch keeps its numbers.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <symbind/attributes.h>
#include <symbind/detail/state_value.h>
#include <symbind/ndarray.h>

namespace symbind {

/// Name, shape and type of one array of a batch.
struct DataDesc {
  std::string name;
  Shape shape;
  DType dtype = DType::kFloat32;
  /// One letter per axis, 'N' is the batch; empty when not known (Python's None).
  std::string layout = "NCHW";

  /// Ignores type and layout, as MXNet does: a change of type alone causes no reshape.
  bool operator==(const DataDesc& other) const {
    return name == other.name && shape == other.shape;
  }
  /// MXNet's text: "DataDesc[data,(128, 3, 224, 224),<class 'numpy.float32'>,NCHW]".
  std::string str() const;
  /// The position of 'N' in the layout: 0 for an empty one, -1 if it is missing.
  static int batch_axis(std::string_view layout);
};

/// One mini-batch. The last `pad` rows are filler.
struct DataBatch {
  std::vector<NDArray> data, label;
  int pad = 0;
  /// Row numbers in the source; empty if the iterator has none.
  std::vector<std::int64_t> index;
  /// Which bucket the batch belongs to, for BucketingModule.
  std::optional<std::int64_t> bucket_key;
  /// Descriptions of this batch, where they differ between batches (buckets); else empty.
  std::vector<DataDesc> provide_data, provide_label;

  /// MXNet's text: "DataBatch: data shapes: [(2, 3)] label shapes: None".
  std::string str() const;
};

/// Hands batches over, epoch after epoch. One thread at a time.
class DataIter {
 public:
  DataIter() = default;
  DataIter(const DataIter&) = delete;
  DataIter& operator=(const DataIter&) = delete;
  virtual ~DataIter() = default;
  /// What the data of a batch are, in order.
  virtual const std::vector<DataDesc>& provide_data() const = 0;
  /// What the labels are; may be empty.
  virtual const std::vector<DataDesc>& provide_label() const = 0;
  /// Begins the next epoch.
  virtual void reset() = 0;
  /// The same, but drops leftovers of the previous epoch (rolled over rows).
  virtual void hard_reset() { reset(); }
  /// Fills `batch` and returns true, or returns false at the end of the epoch.
  virtual bool next(DataBatch& batch) = 0;
  /// Its position, in arrays that never change; an identically constructed iterator continues from
  /// there after set_state. nullopt: not supported, and a resumed training skips the batches
  /// already used.
  virtual std::optional<StateValue> state() { return std::nullopt; }
  /// Throws kValue and changes nothing if the state is not from an identically constructed
  /// iterator.
  virtual void set_state(const StateValue& state);
  /// Rows of a batch: the extent of the batch axis of the first data.
  std::int64_t batch_size() const;
  /// Batches of an epoch, if that is known before it ends.
  virtual std::optional<std::int64_t> batches() const { return std::nullopt; }
};

/// Arrays with or without names: `x`, `{x, y}` or `{{"left", x}, {"right", y}}`.
struct IterArrays {
  IterArrays() = default;
  IterArrays(NDArray array) : given(std::vector<NDArray>{std::move(array)}) {}  // NOLINT
  IterArrays(std::vector<NDArray> arrays) : given(std::move(arrays)) {}         // NOLINT
  IterArrays(NDArrayMap arrays) : given(std::move(arrays)) {}                   // NOLINT
  std::variant<std::vector<NDArray>, NDArrayMap> given;
};

struct NDArrayIterOptions {
  std::int64_t batch_size = 1;
  /// A new order every epoch, the same for the same seed on any machine.
  bool shuffle = false;
  /// What happens to the rows of an incomplete last batch: "pad" completes it with rows from the
  /// start, "discard" drops them, "roll_over" puts them first in the next epoch.
  std::string last_batch_handle = "pad";
  /// Name of a single array; several are called _0_data, _1_data, …
  std::string data_name = "data";
  std::string label_name = "softmax_label";
  std::string layout = "NCHW";
  std::uint64_t seed = 0;
  /// Returns the row order of the next epoch, instead of the built-in shuffling: called at
  /// construction and at every reset if `shuffle` is on.
  std::function<std::vector<std::int64_t>()> reorder = {};
};

/// Batches of arrays in memory. A batch of neighbouring rows is a view of the source and copies
/// nothing; any other is gathered.
class NDArrayIter final : public DataIter {
 public:
  explicit NDArrayIter(const IterArrays& data, const IterArrays& label = {},
                       const NDArrayIterOptions& options = {});
  ~NDArrayIter() override;
  const std::vector<DataDesc>& provide_data() const override;
  const std::vector<DataDesc>& provide_label() const override;
  void reset() override;
  bool next(DataBatch& batch) override;
  std::optional<StateValue> state() override;
  void set_state(const StateValue& state) override;

  void hard_reset() override;
  std::optional<std::int64_t> batches() const override;
  /// Number of rows.
  std::int64_t num_data() const;
  /// Row of the current epoch's order at which the current batch begins; minus one batch before
  /// the first.
  std::int64_t cursor() const;
  void set_cursor(std::int64_t cursor);
  /// The rows in the order of this epoch.
  std::vector<std::int64_t> order() const;
  /// Advances by one batch; false at the end. `next` does this first.
  bool advance();
  /// The batch at the cursor; the incomplete last one is shorter unless it is padded.
  void fetch(DataBatch& batch);
  /// Filler rows of the batch at the cursor.
  int pad() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// `size` batches per epoch; restarts the source as often as needed.
class ResizeIter final : public DataIter {
 public:
  ResizeIter(std::shared_ptr<DataIter> iter, std::int64_t size, bool reset_internal = true);
  const std::vector<DataDesc>& provide_data() const override { return iter_->provide_data(); }
  const std::vector<DataDesc>& provide_label() const override { return iter_->provide_label(); }
  void reset() override;
  void hard_reset() override;
  bool next(DataBatch& batch) override;
  std::optional<std::int64_t> batches() const override { return size_; }
  std::optional<StateValue> state() override;
  void set_state(const StateValue& state) override;

 private:
  std::shared_ptr<DataIter> iter_;
  std::int64_t size_, given_ = 0;
  bool reset_internal_;
};

struct PrefetchOptions {
  /// Per iterator, old name → new name.
  std::vector<std::map<std::string, std::string>> rename_data = {}, rename_label = {};
  /// Batches read ahead per iterator.
  int depth = 2;
};

/// Reads ahead, each iterator in its own thread, and joins their batches. `next` rethrows an
/// iterator's exception in the caller's thread; `reset` then restarts.
class PrefetchingIter final : public DataIter {
 public:
  explicit PrefetchingIter(std::vector<std::shared_ptr<DataIter>> iters,
                           const PrefetchOptions& options = {});
  /// Lets the batches being read finish, and ends the threads.
  ~PrefetchingIter() override;
  const std::vector<DataDesc>& provide_data() const override;
  const std::vector<DataDesc>& provide_label() const override;
  void reset() override;
  void hard_reset() override;
  bool next(DataBatch& batch) override;
  std::optional<StateValue> state() override;
  void set_state(const StateValue& state) override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// MNIST and data sets in its format, from idx files, plain or gzipped.
struct MNISTIterOptions {
  std::string image = "./train-images-idx3-ubyte";
  std::string label = "./train-labels-idx1-ubyte";
  std::int64_t batch_size = 128;
  bool shuffle = true;
  /// Rows of 784 numbers instead of one-channel images.
  bool flat = false;
  std::int64_t seed = 0;
  bool silent = false;
  /// Reads part `part_index` of `num_parts` of nearly equal size.
  int num_parts = 1, part_index = 0;
  std::string data_name = "data", label_name = "softmax_label";
  void describe(AttrVisitor& v);
};
class MNISTIter final : public DataIter {
 public:
  explicit MNISTIter(const MNISTIterOptions& options);
  ~MNISTIter() override;
  const std::vector<DataDesc>& provide_data() const override;
  const std::vector<DataDesc>& provide_label() const override;
  void reset() override;
  bool next(DataBatch& batch) override;
  std::optional<StateValue> state() override;
  void set_state(const StateValue& state) override;

 private:
  std::unique_ptr<NDArrayIter> rows_;
};

/// Rows of numbers in text: one row a line, separated by commas.
struct CSVIterOptions {
  std::string data_csv = {};
  Tuple data_shape = {};
  /// "NULL": labels are zeros.
  std::string label_csv = "NULL";
  Tuple label_shape = {1};
  std::int64_t batch_size = 0;
  /// Completes the last batch with rows from the start, which the next epoch then skips, as in
  /// MXNet; else the filler rows keep the numbers of the previous batch.
  bool round_batch = true;
  /// float32, int32 or int64, of data and label alike.
  DType dtype = DType::kFloat32;
  std::string data_name = "data", label_name = "softmax_label";
  void describe(AttrVisitor& v);
};
class CSVIter final : public DataIter {
 public:
  explicit CSVIter(const CSVIterOptions& options);
  ~CSVIter() override;
  const std::vector<DataDesc>& provide_data() const override;
  const std::vector<DataDesc>& provide_label() const override;
  void reset() override;
  void hard_reset() override;
  bool next(DataBatch& batch) override;
  std::optional<StateValue> state() override;
  void set_state(const StateValue& state) override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Lines of `label index:value …`, indices from zero. Batches are dense.
struct LibSVMIterOptions {
  std::string data_libsvm = {};
  Tuple data_shape = {};
  /// Labels from a separate file in the same format; "NULL": those of the data file.
  std::string label_libsvm = "NULL";
  Tuple label_shape = {1};
  std::int64_t batch_size = 0;
  bool round_batch = true;
  /// Reads part `part_index` of `num_parts`, cut at line ends.
  int num_parts = 1, part_index = 0;
  std::string data_name = "data", label_name = "softmax_label";
  void describe(AttrVisitor& v);
};
class LibSVMIter final : public DataIter {
 public:
  explicit LibSVMIter(const LibSVMIterOptions& options);
  ~LibSVMIter() override;
  const std::vector<DataDesc>& provide_data() const override;
  const std::vector<DataDesc>& provide_label() const override;
  void reset() override;
  void hard_reset() override;
  bool next(DataBatch& batch) override;
  std::optional<StateValue> state() override;
  void set_state(const StateValue& state) override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// An iterator by MXNet's name ("MNISTIter", "CSVIter", "LibSVMIter") and options as text; options
/// that MXNet has and Symbind does not need are ignored.
std::shared_ptr<DataIter> create_iter(std::string_view name, const AttrDict& options);

/// An idx file, plain or gzipped, as MNIST uses: unsigned bytes, shape from the file, on the CPU.
/// Anything else is an Error kIo that names the path and the byte.
NDArray read_idx(const std::string& path);

}  // namespace symbind
