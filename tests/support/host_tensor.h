#pragma once
// Numbers on the host, in double whatever the array's type: what references compute with.

#include <functional>
#include <string>
#include <vector>

#include <symbind/ndarray.h>

namespace testing {
class AssertionResult;
}

namespace symbind {

struct HostTensor {
  Shape shape;
  std::vector<double> values;

  HostTensor() = default;
  /// Zeros.
  explicit HostTensor(const Shape& s) : shape(s), values(static_cast<std::size_t>(s.size())) {}
  HostTensor(const Shape& s, std::vector<double> v) : shape(s), values(std::move(v)) {}
  /// Numbers of the seeded formula.
  static HostTensor formula(const Shape& shape, std::uint64_t seed, double lo = -1, double hi = 1);
  static HostTensor from(const NDArray& array);

  std::size_t size() const { return values.size(); }
  bool defined() const { return !values.empty() || shape.size() == 0; }
  double& operator[](std::size_t i) { return values[i]; }
  double operator[](std::size_t i) const { return values[i]; }
  /// The element at these coordinates.
  double& at(const std::vector<std::int64_t>& where);
  double at(const std::vector<std::int64_t>& where) const;
  double largest() const;
  NDArray array(DType dtype = DType::kFloat32, Context context = cpu()) const;
  /// As an array of `dtype` would hold them.
  HostTensor rounded(DType dtype) const;
};
using HostTensors = std::vector<HostTensor>;
using Coordinates = std::vector<std::int64_t>;
/// Every element from its coordinates.
HostTensor from_coordinates(const Shape& shape, const std::function<double(Coordinates)>& f);

/// max|got − want| ≤ relative · max|want| + absolute; NaN and infinities must be at the same
/// positions as in `want`. max|want| is over its finite numbers.
struct Tolerance {
  double relative = 0, absolute = 0;
};
::testing::AssertionResult near(const HostTensor& got, const HostTensor& want, Tolerance tolerance);

/// What arithmetic in a type may lose over the sums of a test case: float64 1e-10, float32 1e-5,
/// float16 and bfloat16 a few of their roundings; integers nothing.
Tolerance tolerance_of(DType dtype);

}  // namespace symbind
