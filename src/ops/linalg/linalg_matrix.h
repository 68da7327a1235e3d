// Shared by the operators on matrices in the last two axes.
#pragma once

#include <symbind/kernel.h>

#include "base/check.h"

namespace symbind {

inline void check_rank(const Shape& a) {
  check(a.rank() >= 2, ErrorKind::kShape, "matrices need 2 axes or more, not {}", a.str());
}
inline void check_square(const Shape& a) {
  check_rank(a);
  const std::int64_t rows = a[a.rank() - 2], columns = a.back();
  check(rows < 0 || columns < 0 || rows == columns, ErrorKind::kShape,
        "square matrices are needed, not {}", a.str());
}

/// For what LAPACK computes: f of float or double.
template <class F>
Prepared dispatch_matrix(DType dtype, F f) {
  check(dtype == DType::kFloat32 || dtype == DType::kFloat64, ErrorKind::kType,
        "matrices of {} cannot be factored or solved; cast them to float32 or float64",
        dtype_name(dtype));
  return dtype == DType::kFloat32 ? f.template operator()<float>()
                                  : f.template operator()<double>();
}

}  // namespace symbind
