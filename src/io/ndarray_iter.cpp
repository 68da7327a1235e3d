// NDArrayIter: batches of arrays in memory.
//
// Everything is computed in row numbers of the source. An epoch is an order of all rows; the cursor
// advances by one batch. "roll_over" carries row numbers into the next epoch, so a new order in
// between does no harm. The rules of the cursor are MXNet's: it is one batch before 0 at the start,
// and below 0 while the first batch of an epoch holds carried rows.
//
// Decided here: consecutive rows are returned as a view; others are gathered. Sources on a device
// are gathered run by run, which is slow if shuffled: keep such sources on the CPU.
#include <numeric>

#include <symbind/io.h>

#include "base/check.h"
#include "base/profiling.h"
#include "base/settings.h"
#include "io/batch_arrays.h"
#include "io/iter_state.h"
#include "io/shuffle.h"
#include "ndarray/access.h"

namespace symbind {
namespace {

using Rows = std::vector<std::int64_t>;

enum class LastBatch { kPad, kDiscard, kRollOver };

LastBatch last_batch_from(const std::string& name) {
  if (name == "pad") return LastBatch::kPad;
  if (name == "discard") return LastBatch::kDiscard;
  if (name == "roll_over") return LastBatch::kRollOver;
  fail(ErrorKind::kValue, "last_batch_handle is '{}'; choose pad, discard or roll_over", name);
}

NDArrayMap named(const IterArrays& arrays, const std::string& name) {
  if (const auto* map = std::get_if<NDArrayMap>(&arrays.given)) return *map;
  const auto& list = std::get<std::vector<NDArray>>(arrays.given);
  if (list.size() == 1) return {{name, list.front()}};
  NDArrayMap result;
  for (std::size_t i = 0; i < list.size(); ++i) result[fmt::format("_{}_{}", i, name)] = list[i];
  return result;
}

struct Source {
  std::string name;
  NDArray array;
  Shape batch_shape(std::int64_t rows, int axis) const {
    Shape shape = array.shape();
    shape[axis] = rows;
    return shape;
  }
};

/// Copies rows of the CPU array `from` along `axis`; neighbouring rows in one piece.
void gather(const NDArray& from, const Rows& rows, int axis, const NDArray& to) {
  const std::size_t outer = static_cast<std::size_t>(from.shape().count(0, axis));
  const std::size_t row =
      static_cast<std::size_t>(from.shape().count(axis + 1)) * size_of(from.dtype());
  const std::size_t from_block = row * static_cast<std::size_t>(from.shape()[axis]);
  const std::byte* source = read_pointer(from);
  std::byte* target = write_pointer(to);
  for (std::size_t o = 0; o < outer; ++o, source += from_block) {
    for (std::size_t i = 0, n; i < rows.size(); i += n) {
      for (n = 1; i + n < rows.size() && rows[i + n] == rows[i] + static_cast<std::int64_t>(n);)
        ++n;
      std::memcpy(target, source + row * static_cast<std::size_t>(rows[i]), row * n);
      target += row * n;
    }
  }
}

void gather_on_device(const NDArray& from, const Rows& rows, const NDArray& to) {
  for (std::size_t i = 0, n; i < rows.size(); i += n) {
    for (n = 1; i + n < rows.size() && rows[i + n] == rows[i] + static_cast<std::int64_t>(n);) ++n;
    const auto count = static_cast<std::int64_t>(n), at = static_cast<std::int64_t>(i);
    from.slice(rows[i], rows[i] + count).copy_to(to.slice(at, at + count));
  }
}

}  // namespace

struct NDArrayIter::State {
  std::vector<Source> data, label;
  std::vector<DataDesc> data_descs, label_descs;
  NDArrayIterOptions options;
  LastBatch last_batch = LastBatch::kPad;
  int axis = 0;
  std::int64_t num_data = 0, cursor = 0;
  std::uint64_t epoch = 0;
  Rows order;           // empty: 0, 1, 2, …
  NDArray order_array;  // the same, once the state of this epoch was read
  Rows carried;
  Rows rows;  // of the batch being made

  std::int64_t at(std::int64_t place) const {
    return order.empty() ? place : order[static_cast<std::size_t>(place)];
  }
  std::vector<Source> sources(const IterArrays& arrays, const std::string& name);
  void check_rows() const;
  std::vector<DataDesc> describe(const std::vector<Source>& sources) const;
  void new_order();
  void restart() { cursor = -options.batch_size; }
  bool carries() const {
    return last_batch == LastBatch::kRollOver && cursor < 0 && cursor > -options.batch_size;
  }
  bool pads() const {
    return last_batch == LastBatch::kPad && cursor + options.batch_size > num_data;
  }
  void collect_rows();
  bool complete() const { return static_cast<std::int64_t>(rows.size()) == options.batch_size; }
  void hand_out(const std::vector<Source>& from, std::vector<NDArray>& to) const;
  void put(DataBatch& batch) const;
};

std::vector<Source> NDArrayIter::State::sources(const IterArrays& arrays, const std::string& name) {
  std::vector<Source> result;
  for (const auto& [key, array] : named(arrays, name)) {
    check_defined(array, key.c_str());
    check(array.ndim() > axis, ErrorKind::kShape,
          "NDArrayIter: '{}' has shape {}, which has no batch axis: with layout {} it is axis {}",
          key, array.shape().str(), options.layout, axis);
    const bool gatherable = array.context() == cpu() || axis == 0;
    result.push_back({key, gatherable ? array : array.as_in_context(cpu())});
  }
  return result;
}

void NDArrayIter::State::check_rows() const {
  for (const auto* group : {&data, &label}) {
    for (const Source& source : *group) {
      const std::int64_t rows = source.array.shape()[axis];
      check(rows == num_data,
            "NDArrayIter: '{}' has {} rows and '{}' has {}; every array needs one row per example",
            data.front().name, num_data, source.name, rows);
    }
  }
}

std::vector<DataDesc> NDArrayIter::State::describe(const std::vector<Source>& sources) const {
  std::vector<DataDesc> result;
  for (const Source& source : sources)
    result.push_back({source.name, source.batch_shape(options.batch_size, axis),
                      source.array.dtype(), options.layout});
  return result;
}

void NDArrayIter::State::new_order() {
  if (!options.shuffle) return;
  order_array = {};
  if (options.reorder) {
    Rows given = options.reorder();
    check(given.size() == static_cast<std::size_t>(num_data),
          "NDArrayIter: the order has {} rows, the data {}", given.size(), num_data);
    for (const std::int64_t row : given)
      check(row >= 0 && row < num_data, ErrorKind::kIndex,
            "NDArrayIter: row {} in the order; the data has {} rows", row, num_data);
    order = std::move(given);
    return;
  }
  order.resize(static_cast<std::size_t>(num_data));
  std::iota(order.begin(), order.end(), 0);
  shuffle(order, options.seed, epoch++);
}

/// The rows of the batch at the cursor.
void NDArrayIter::State::collect_rows() {
  check(cursor < num_data, ErrorKind::kState, "NDArrayIter is at its end: call reset()");
  const std::int64_t end = cursor + options.batch_size;
  rows.clear();
  if (carries()) {
    check(!carried.empty(), ErrorKind::kState,
          "NDArrayIter: no rows were carried over from the last epoch; call hard_reset()");
    rows = carried;
  }
  for (std::int64_t i = std::max<std::int64_t>(cursor, 0); i < std::min(end, num_data); ++i)
    rows.push_back(at(i));
  if (pads())
    for (std::int64_t i = num_data; i < end; ++i) rows.push_back(at(i % num_data));
}

void NDArrayIter::State::hand_out(const std::vector<Source>& from, std::vector<NDArray>& to) const {
  to.resize(from.size());
  const auto count = static_cast<std::int64_t>(rows.size());
  bool neighbours = axis == 0 && count > 0 && rows.back() == rows.front() + count - 1;
  for (std::size_t i = 1; neighbours && i < rows.size(); ++i)
    neighbours = rows[i] == rows[i - 1] + 1;
  for (std::size_t i = 0; i < from.size(); ++i) {
    const NDArray& source = from[i].array;
    if (neighbours) {
      to[i] = source.slice(rows.front(), rows.front() + count);
    } else if (source.context() == cpu()) {
      source.wait_to_read();
      gather(source, rows, axis,
             writable_array(to, i, from[i].batch_shape(count, axis), source.dtype()));
    } else {
      to[i] = NDArray(from[i].batch_shape(count, axis), source.context(), source.dtype());
      gather_on_device(source, rows, to[i]);
    }
  }
}

void NDArrayIter::State::put(DataBatch& batch) const {
  hand_out(data, batch.data);
  hand_out(label, batch.label);
  batch.index.clear();
  batch.bucket_key.reset();
  batch.provide_data.clear();
  batch.provide_label.clear();
}

NDArrayIter::NDArrayIter(const IterArrays& data, const IterArrays& label,
                         const NDArrayIterOptions& options)
    : state_(std::make_unique<State>()) {
  settings::refresh();
  State& s = *state_;
  s.options = options;
  s.last_batch = last_batch_from(options.last_batch_handle);
  s.axis = DataDesc::batch_axis(options.layout);
  check(s.axis >= 0, "NDArrayIter: layout '{}' has no batch axis N", options.layout);
  check(options.batch_size > 0, "NDArrayIter: batch_size is {}; it must be positive",
        options.batch_size);
  s.data = s.sources(data, options.data_name);
  s.label = s.sources(label, options.label_name);
  check(!s.data.empty(), "NDArrayIter: no data given");
  s.num_data = s.data.front().array.shape()[s.axis];
  s.check_rows();
  check(s.num_data > 0, "NDArrayIter: '{}' has no rows", s.data.front().name);
  s.data_descs = s.describe(s.data);
  s.label_descs = s.describe(s.label);
  s.new_order();
  s.restart();
}

NDArrayIter::~NDArrayIter() = default;

const std::vector<DataDesc>& NDArrayIter::provide_data() const { return state_->data_descs; }
const std::vector<DataDesc>& NDArrayIter::provide_label() const { return state_->label_descs; }
std::int64_t NDArrayIter::num_data() const { return state_->num_data; }
std::optional<std::int64_t> NDArrayIter::batches() const {
  const std::int64_t rows = state_->num_data, size = state_->options.batch_size;
  return state_->last_batch == LastBatch::kDiscard ? rows / size : (rows + size - 1) / size;
}
std::int64_t NDArrayIter::cursor() const { return state_->cursor; }
void NDArrayIter::set_cursor(std::int64_t cursor) { state_->cursor = cursor; }

std::vector<std::int64_t> NDArrayIter::order() const {
  if (!state_->order.empty()) return state_->order;
  Rows rows(static_cast<std::size_t>(state_->num_data));
  std::iota(rows.begin(), rows.end(), 0);
  return rows;
}

void NDArrayIter::reset() {
  State& s = *state_;
  s.new_order();
  const bool unfinished = s.cursor > s.num_data - s.options.batch_size && s.cursor < s.num_data;
  if (s.last_batch == LastBatch::kRollOver && unfinished)
    s.cursor -= s.num_data + s.options.batch_size;
  else
    s.restart();
}

void NDArrayIter::hard_reset() {
  state_->new_order();
  state_->restart();
  state_->carried.clear();
}

bool NDArrayIter::advance() {
  State& s = *state_;
  s.cursor += s.options.batch_size;
  return s.cursor < s.num_data;
}

void NDArrayIter::fetch(DataBatch& batch) {
  State& s = *state_;
  s.collect_rows();
  if (!s.complete()) s.carried = s.rows;
  s.put(batch);
  batch.pad = pad();
}

int NDArrayIter::pad() const {
  const State& s = *state_;
  if (s.pads()) return static_cast<int>(s.cursor + s.options.batch_size - s.num_data);
  return s.carries() ? static_cast<int>(-s.cursor) : 0;
}

bool NDArrayIter::next(DataBatch& batch) {
  const profiling::ApiSpan span("NDArrayIter.next");
  State& s = *state_;
  if (!advance()) return false;
  s.collect_rows();
  if (!s.complete()) {
    s.carried = s.rows;
    return false;
  }
  s.put(batch);
  batch.pad = pad();
  return true;
}

std::optional<StateValue> NDArrayIter::state() {
  State& s = *state_;
  StateValue state = iter_state("NDArrayIter", {{"rows", s.num_data},
                                                {"batch_size", s.options.batch_size},
                                                {"shuffle", s.options.shuffle ? 1 : 0}});
  state.add("cursor", StateValue::of(s.cursor));
  state.add("epoch", StateValue::of(static_cast<std::int64_t>(s.epoch)));
  if (!s.order.empty()) {
    if (!s.order_array.defined()) s.order_array = rows_array(s.order);
    state.add("order", StateValue::of(s.order_array));
  }
  if (!s.carried.empty()) state.add("carried", StateValue::of(rows_array(s.carried)));
  return state;
}

void NDArrayIter::set_state(const StateValue& state) {
  State& s = *state_;
  constexpr const char* kWhat = "NDArrayIter";
  check_iter_state(state, kWhat,
                   {{"rows", s.num_data},
                    {"batch_size", s.options.batch_size},
                    {"shuffle", s.options.shuffle ? 1 : 0}});
  const std::int64_t cursor = state.integer_at("cursor", kWhat);
  const std::int64_t epoch = state.integer_at("epoch", kWhat);
  Rows order, carried;
  if (state.find("order") != nullptr)
    order = rows_from(state.array_at("order", kWhat), s.num_data, kWhat);
  if (state.find("carried") != nullptr)
    carried = rows_from(state.array_at("carried", kWhat), s.num_data, kWhat);
  check(order.empty() || order.size() == static_cast<std::size_t>(s.num_data), ErrorKind::kIo,
        "{}: the order has {} rows of {}", kWhat, order.size(), s.num_data);
  const std::int64_t first = -2 * s.options.batch_size;
  const std::int64_t last = s.num_data + (std::int64_t{1} << 53);  // next() at the end advances it
  check(cursor >= first && cursor <= last && epoch >= 0, ErrorKind::kIo,
        "{}: cursor {} in epoch {}; it is from {} to {}", kWhat, cursor, epoch, first, last);
  s.cursor = cursor;
  s.epoch = static_cast<std::uint64_t>(epoch);
  s.order = std::move(order);
  s.order_array = {};
  s.carried = std::move(carried);
}

}  // namespace symbind
