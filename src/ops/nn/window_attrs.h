// Checks of kernel, stride, dilate and pad for operators with windows (convolutions, pooling).
#pragma once

#include <symbind/attributes.h>

#include "base/check.h"

namespace symbind {

/// Throws unless `t` is empty or has one value per axis of `kernel`, none below `lowest`.
inline void check_per_axis(const char* name, const Tuple& t, const Tuple& kernel,
                           std::int64_t lowest) {
  check(t.empty() || t.size() == kernel.size(), "{} {} must have as many axes as kernel {}", name,
        tuple_text(t), tuple_text(kernel));
  for (const std::int64_t value : t)
    check(value >= lowest && value <= 0x7fffffff, "{} {} must be {} along every axis", name,
          tuple_text(t), lowest == 0 ? "at least 0" : "positive");
}

}  // namespace symbind
