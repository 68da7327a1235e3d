#include "tests/support/host_tensor.h"

#include <cmath>

#include <gtest/gtest.h>

#include "tests/support/formula.h"

namespace symbind {

HostTensor HostTensor::formula(const Shape& shape, std::uint64_t seed, double lo, double hi) {
  HostTensor t(shape);
  for (std::size_t i = 0; i < t.size(); ++i) t[i] = formula::value(seed, i, lo, hi);
  return t;
}

HostTensor HostTensor::from(const NDArray& array) {
  return {array.shape(), array.to_vector<double>()};
}

namespace {
std::size_t offset_of(const Shape& shape, const std::vector<std::int64_t>& where) {
  std::int64_t at = 0;
  for (int axis = 0; axis < shape.rank(); ++axis)
    at = at * shape[axis] + where.at(static_cast<std::size_t>(axis));
  return static_cast<std::size_t>(at);
}
}  // namespace

double& HostTensor::at(const std::vector<std::int64_t>& where) {
  return values.at(offset_of(shape, where));
}
double HostTensor::at(const std::vector<std::int64_t>& where) const {
  return values.at(offset_of(shape, where));
}

HostTensor from_coordinates(const Shape& shape, const std::function<double(Coordinates)>& f) {
  HostTensor t(shape);
  Coordinates at(static_cast<std::size_t>(shape.rank()));
  for (std::size_t i = 0; i < t.size(); ++i) {
    auto rest = static_cast<std::int64_t>(i);
    for (int axis = shape.rank() - 1; axis >= 0; --axis) {
      at[static_cast<std::size_t>(axis)] = rest % shape[axis];
      rest /= shape[axis];
    }
    t[i] = f(at);
  }
  return t;
}

double HostTensor::largest() const {
  double most = 0;
  for (const double v : values) {
    if (std::isfinite(v)) most = std::max(most, std::abs(v));
  }
  return most;
}

NDArray HostTensor::array(DType dtype, Context context) const {
  NDArray a(shape, context, dtype);
  if (size() > 0) a.copy_from_host(values.data(), DType::kFloat64);
  return a;
}

HostTensor HostTensor::rounded(DType dtype) const {
  return dtype == DType::kFloat64 ? *this : from(array(dtype));
}

::testing::AssertionResult near(const HostTensor& got, const HostTensor& want,
                                Tolerance tolerance) {
  if (got.shape != want.shape) {
    return ::testing::AssertionFailure()
           << "shape " << got.shape.str() << ", expected " << want.shape.str();
  }
  const double bound = tolerance.relative * want.largest() + tolerance.absolute;
  std::size_t wrong = 0, worst = 0;
  double most = -1;
  for (std::size_t i = 0; i < want.size(); ++i) {
    const double a = got[i], b = want[i];
    const bool same = a == b || (std::isnan(a) && std::isnan(b));
    const double distance = std::isfinite(a) && std::isfinite(b) ? std::abs(a - b) : HUGE_VAL;
    if (same || distance <= bound) continue;
    ++wrong;
    if (distance > most) {
      most = distance;
      worst = i;
    }
  }
  if (wrong == 0) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure()
         << wrong << " of " << want.size() << " elements differ; the worst, element " << worst
         << " of " << want.shape.str() << ", is " << ::testing::PrintToString(got[worst])
         << ", expected " << ::testing::PrintToString(want[worst]) << " within " << bound;
}

Tolerance tolerance_of(DType dtype) {
  switch (dtype) {
    case DType::kFloat64: return {1e-10, 1e-12};
    case DType::kFloat32: return {1e-5, 1e-6};
    case DType::kFloat16: return {4e-3, 1e-3};
    case DType::kBFloat16: return {3e-2, 8e-3};
    default: return {};
  }
}

}  // namespace symbind
