#pragma once
// A counted block of device memory, with what is known about its contents: the version of the last
// write, forms derived from it, and the error of an operator that failed to write it.
//
// Decided here: an error is one object, shared by all outputs of its operator and by everything
// that depends on them. Reading it once, anywhere, clears it everywhere, as in MXNet's engine.
// A late write, e.g. an update that waits for other machines, is finished by the first access.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include <symbind/context.h>
#include <symbind/error.h>

namespace symbind {

class Storage;

/// Another form of an array's contents (packed weights …), kept with the version it was made from.
class DerivedForm {
 public:
  DerivedForm(Context context, std::size_t bytes);
  ~DerivedForm();
  DerivedForm(const DerivedForm&) = delete;
  DerivedForm& operator=(const DerivedForm&) = delete;

  void* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }
  /// Whether it is current for the storages it is made from; never for an escaped one.
  bool current(std::span<const Storage* const> sources) const;
  bool current(const Storage& storage) const;
  /// Calls make(data()) unless current. Several threads may call; one makes, the others wait.
  template <class F>
  void refresh(std::span<const Storage* const> sources, F&& make);
  template <class F>
  void refresh(const Storage& storage, F&& make);

 private:
  Context context_;
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
  std::mutex making_;
  /// The sum of the sources' versions: they only grow, so an equal sum means equal versions.
  std::atomic<std::uint64_t> made_from_{0};  // versions start at 1
};

/// Another array that a form depends on: a storage (Storage::id) and where the array begins in it.
struct FormSource {
  std::uint64_t storage = 0;
  std::size_t offset = 0;
  auto operator<=>(const FormSource&) const = default;
};
/// BatchNorm folded into a weight depends on its four arrays and on the bias.
using FormSources = std::array<FormSource, 5>;

/// An error that waits to be read.
struct PendingError {
  explicit PendingError(Error what) : error(std::move(what)) {}
  const Error error;
  std::atomic<bool> read{false};
};

/// A write that was started and is finished by the first access to the memory.
class LateWrite {
 public:
  virtual ~LateWrite() = default;
  /// Waits for what it needs and writes. Any thread may call it, more than once; its own accesses
  /// return at once.
  virtual void finish() = 0;
};

class Storage {
 public:
  /// Uninitialised. Throws kMemory.
  static std::shared_ptr<Storage> allocate(Context context, std::size_t bytes);
  /// Caller-supplied memory; `on_release` runs when it is no longer used.
  static std::shared_ptr<Storage> wrap(void* data, std::size_t bytes, Context context,
                                       std::function<void()> on_release = {});
  ~Storage();
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  Context context() const { return context_; }
  std::size_t bytes() const { return bytes_; }
  /// Finishes a late write first.
  void* data() const {
    settle();
    return data_;
  }

  /// Finishes a late write; throws its error.
  void settle() const {
    if (LateWrite* late = late_.load(std::memory_order_acquire)) [[unlikely]]
      late->finish();
  }
  /// From now on `late` is to write here; null: it has. Its owner keeps it alive until then.
  void set_late(LateWrite* late) { late_.store(late, std::memory_order_release); }

  /// Increases with every write through the library.
  std::uint64_t version() const { return version_.load(std::memory_order_acquire); }
  void touch() { version_.fetch_add(1, std::memory_order_acq_rel); }
  /// A writable pointer was handed out: from now on the contents count as changed at every run.
  void mark_escaped() { escaped_.store(true, std::memory_order_release); }
  bool escaped() const { return escaped_.load(std::memory_order_acquire); }

  /// Unique in the process, also after storages were destroyed.
  std::uint64_t id() const { return id_; }

  /// The form of this key and size of what begins at byte `offset`; allocated at the first call and
  /// cached; with a `user`, for the user's lifetime: forms of destroyed users are evicted for new
  /// ones. `also`: the other arrays that the form depends on.
  DerivedForm& derived(std::string_view key, std::size_t bytes, std::size_t offset = 0,
                       const std::shared_ptr<const void>& user = nullptr,
                       const FormSources& also = {});
  std::size_t num_derived() const;

  /// Stores an error here and for waitall(). Pass the same object to every affected storage.
  void set_error(std::shared_ptr<PendingError> error);
  void set_error(const Error& error) { set_error(std::make_shared<PendingError>(error)); }
  bool has_error() const { return failed_.load(std::memory_order_acquire) && error() != nullptr; }
  /// The unread error, to pass to dependent arrays; null if there is none.
  std::shared_ptr<PendingError> error() const;
  /// The unread error, which from now on counts as read.
  std::optional<Error> take_error();

 private:
  Storage(void* data, std::size_t bytes, Context context, std::function<void()> on_release)
      : data_(data), bytes_(bytes), context_(context), on_release_(std::move(on_release)) {}
  static std::uint64_t next_id();

  void* data_;
  std::size_t bytes_;
  Context context_;
  std::function<void()> on_release_;
  const std::uint64_t id_ = next_id();
  std::atomic<std::uint64_t> version_{1};
  std::atomic<bool> escaped_{false};
  std::atomic<bool> failed_{false};
  std::atomic<LateWrite*> late_{nullptr};
  mutable std::mutex guard_;  // of the two below
  std::shared_ptr<PendingError> error_;
  struct KeptForm {
    std::unique_ptr<DerivedForm> form;
    bool has_user = false;
    std::weak_ptr<const void> user = {};
  };
  std::map<std::tuple<std::size_t, std::size_t, std::string, FormSources>, KeptForm>
      derived_;  // by offset, size, key and other sources
};

inline bool DerivedForm::current(std::span<const Storage* const> sources) const {
  std::uint64_t versions = 0;
  for (const Storage* source : sources) {
    if (source->escaped()) return false;
    versions += source->version();
  }
  return made_from_.load(std::memory_order_acquire) == versions;
}
inline bool DerivedForm::current(const Storage& storage) const {
  const Storage* const one[] = {&storage};
  return current(one);
}

template <class F>
void DerivedForm::refresh(std::span<const Storage* const> sources, F&& make) {
  if (current(sources)) return;
  const std::lock_guard lock(making_);
  if (current(sources)) return;
  std::uint64_t versions = 0;
  for (const Storage* source : sources) versions += source->version();
  make(data_);
  made_from_.store(versions, std::memory_order_release);
}
template <class F>
void DerivedForm::refresh(const Storage& storage, F&& make) {
  const Storage* const one[] = {&storage};
  refresh(one, std::forward<F>(make));
}

}  // namespace symbind
