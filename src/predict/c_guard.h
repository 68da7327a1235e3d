#pragma once
// Error handling of the C interface: exceptions become -1 and a thread-local text.

#include <exception>

#include "base/check.h"

namespace symbind::c_api {

/// Sets what MXGetLastError returns in this thread.
void keep_error(const char* text) noexcept;

/// Runs `work`; 0, or -1 when it threw.
template <class F>
int guarded(F&& work) noexcept {
  try {
    work();
    return 0;
  } catch (const std::exception& e) {
    keep_error(e.what());
  } catch (...) {
    keep_error("an exception that is not a std::exception");
  }
  return -1;
}

/// The pointer, which must not be null.
template <class T>
T* given(T* pointer, const char* what) {
  check(pointer != nullptr, "{} is a null pointer", what);
  return pointer;
}

}  // namespace symbind::c_api
