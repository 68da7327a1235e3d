#pragma once
// The objects of the opaque handles of the C interface.
//
// Decided here: a handle is a number that is never reused, not an address. So a handle that was
// freed, or is of another kind, is detected; and freeing one while another thread runs it is safe.

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "base/check.h"

namespace symbind {

template <class T>
class CHandles {
 public:
  /// All handles of the process; never destroyed, because threads may outlive main.
  static CHandles& all() {
    static CHandles& instance = *new CHandles;
    return instance;
  }

  void* add(std::shared_ptr<T> object) {
    const std::lock_guard lock(guard_);
    last_ += 16;
    objects_.emplace(last_, std::move(object));
    return reinterpret_cast<void*>(last_);
  }
  std::shared_ptr<T> get(const void* handle) const {
    check(handle != nullptr, "the {} is a null pointer", T::kTitle);
    const std::lock_guard lock(guard_);
    const auto it = objects_.find(reinterpret_cast<std::uintptr_t>(handle));
    check(
        it != objects_.end(), ErrorKind::kState,
        "the {} was already freed, or never created\n  fix:  use handles that were created and not "
        "yet freed, each with the functions of its kind",
        T::kTitle);
    return it->second;
  }
  void remove(const void* handle) {
    const std::shared_ptr<T> last = get(handle);  // destroyed after unlocking
    const std::lock_guard lock(guard_);
    objects_.erase(reinterpret_cast<std::uintptr_t>(handle));
  }

 private:
  mutable std::mutex guard_;
  std::uintptr_t last_ = T::kTag;
  std::map<std::uintptr_t, std::shared_ptr<T>> objects_;
};

}  // namespace symbind
