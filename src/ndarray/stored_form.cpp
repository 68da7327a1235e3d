#include "ndarray/stored_form.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <unordered_map>

#include "base/check.h"
#include "ndarray/access.h"
#include "ndarray/dtype_dispatch.h"

namespace symbind {
namespace {

constexpr std::string_view kNames[] = {"default", "row_sparse", "csr"};  // by params::StorageType

bool is_of(const StoredForm& form, const NDArray& array) {
  return form.offset == array.byte_offset() && form.shape == array.shape() &&
         form.dtype == array.dtype();
}

/// Forms by storage. An entry is valid during its storage's lifetime; stale entries are erased when
/// the table has doubled.
class Notes {
 public:
  std::shared_ptr<const StoredForm> find(const std::shared_ptr<Storage>& storage) {
    if (count_.load(std::memory_order_acquire) == 0) return nullptr;
    const std::lock_guard lock(guard_);
    const auto it = notes_.find(storage.get());
    return it != notes_.end() && it->second.owner.lock() == storage ? it->second.form : nullptr;
  }
  void set(const std::shared_ptr<Storage>& storage, std::shared_ptr<const StoredForm> form) {
    const std::lock_guard lock(guard_);
    if (form == nullptr)
      notes_.erase(storage.get());
    else
      notes_[storage.get()] = {storage, std::move(form)};
    if (notes_.size() >= clean_at_) {
      std::erase_if(notes_, [](const auto& note) { return note.second.owner.expired(); });
      clean_at_ = std::max<std::size_t>(64, 2 * notes_.size());
    }
    count_.store(notes_.size(), std::memory_order_release);
  }

 private:
  struct Note {
    std::weak_ptr<Storage> owner;
    std::shared_ptr<const StoredForm> form;
  };
  std::mutex guard_;
  std::atomic<std::size_t> count_{0};
  std::size_t clean_at_ = 64;
  std::unordered_map<const Storage*, Note> notes_;
};

Notes& notes() {
  static Notes& all = *new Notes;  // never destroyed: arrays in statics may outlive it
  return all;
}

/// The form of exactly this array, whatever was written since.
std::shared_ptr<const StoredForm> note_of(const NDArray& array) {
  if (!array.defined()) return nullptr;
  std::shared_ptr<const StoredForm> form = notes().find(array.storage());
  return form != nullptr && is_of(*form, array) ? form : nullptr;
}

NDArray index_array(const std::vector<std::int64_t>& values) {
  return NDArray::from_vector(values, Shape{static_cast<std::int64_t>(values.size())}, cpu());
}

/// Where the elements of `host` are not 0; NaN is not 0, -0 is.
template <class T>
std::vector<bool> nonzero(const NDArray& host) {
  const auto* values = reinterpret_cast<const T*>(read_pointer(host));
  std::vector<bool> result(static_cast<std::size_t>(host.size()));
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = !(values[i] == T{});
  return result;
}

std::vector<bool> nonzero_of(const NDArray& host) {
  std::vector<bool> result;
  dispatch_dtype(host.dtype(), [&]<class T>() { result = nonzero<T>(host); });
  return result;
}

std::vector<NDArray> rows_that_are_not_zero(const NDArray& host) {
  const std::vector<bool> set = nonzero_of(host);
  const std::int64_t rows = host.shape()[0], row = host.shape().count(1);
  std::vector<std::int64_t> kept;
  for (std::int64_t r = 0; r < rows; ++r) {
    const auto begin = set.begin() + r * row;
    if (std::find(begin, begin + row, true) != begin + row) kept.push_back(r);
  }
  return {index_array(kept)};
}

std::vector<NDArray> places_that_are_not_zero(const NDArray& host) {
  const std::vector<bool> set = nonzero_of(host);
  const std::int64_t rows = host.shape()[0], width = host.shape()[1];
  std::vector<std::int64_t> starts = {0}, columns;
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = 0; c < width; ++c)
      if (set[static_cast<std::size_t>(r * width + c)]) columns.push_back(c);
    starts.push_back(static_cast<std::int64_t>(columns.size()));
  }
  return {index_array(starts), index_array(columns)};
}

}  // namespace

void note_stored_form(const NDArray& array, params::StorageType type, std::vector<NDArray> index) {
  check_defined(array, "set_storage_type");
  if (type == params::kDense) return notes().set(array.storage(), nullptr);
  const int rank = array.ndim();
  check(type == params::kCsr ? rank == 2 : rank > 0, ErrorKind::kShape,
        "an array of shape {} has no {} form: {}", array.shape().str(), kNames[type],
        type == params::kCsr ? "csr is for matrices" : "row_sparse needs an axis of rows");
  auto form = std::make_shared<StoredForm>();
  *form = {type, array.byte_offset(), array.shape(), array.dtype(), 0, std::move(index)};
  if (!form->index.empty()) form->version = array.storage()->version();
  notes().set(array.storage(), std::move(form));
}

std::shared_ptr<const StoredForm> current_form(const NDArray& array) {
  std::shared_ptr<const StoredForm> form = note_of(array);
  if (form == nullptr) return nullptr;
  const Storage& storage = *array.storage();
  if (form->version == storage.version() && !storage.escaped()) return form;
  const NDArray host = array.as_in_context(cpu());
  auto fresh = std::make_shared<StoredForm>(*form);
  fresh->index = form->type == params::kRowSparse ? rows_that_are_not_zero(host)
                                                  : places_that_are_not_zero(host);
  return fresh;
}

void copy_stored_form(const NDArray& from, const NDArray& to) {
  const std::shared_ptr<const StoredForm> form = note_of(from);
  if (form == nullptr) return;
  const Storage& storage = *from.storage();
  const bool fits = form->version == storage.version() && !storage.escaped();
  note_stored_form(to, form->type, fits ? form->index : std::vector<NDArray>{});
}

std::string_view storage_type(const NDArray& array) {
  const std::shared_ptr<const StoredForm> form = note_of(array);
  return kNames[form == nullptr ? params::kDense : form->type];
}

void set_storage_type(const NDArray& array, std::string_view type) {
  const auto* found = std::ranges::find(kNames, type);
  check(found != std::end(kNames),
        "storage type '{}' is unknown; the types are default, row_sparse, csr", type);
  if (storage_type(array) == type) return;
  note_stored_form(array, static_cast<params::StorageType>(found - kNames), {});
}

}  // namespace symbind
