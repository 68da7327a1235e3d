#include "predict/c_guard.h"

#include <string>

#include <symbind/c_predict_api.h>

namespace symbind::c_api {
namespace {

thread_local std::string last_error;

}  // namespace

void keep_error(const char* text) noexcept {
  try {
    last_error = text;
  } catch (...) {
    last_error.clear();  // there is no memory for the text
  }
}

}  // namespace symbind::c_api

const char* MXGetLastError(void) { return symbind::c_api::last_error.c_str(); }
