#include "tests/ops/elementwise_rows.h"
#include "tests/support/op_case.h"

namespace symbind {
namespace {

/// f over both operands stretched to one shape, by coordinates.
HostTensor stretched(double (*f)(double, double), const HostTensor& a, const HostTensor& b) {
  const int rank = std::max(a.shape.rank(), b.shape.rank());
  const auto extent = [&](const Shape& s, int axis) {
    const int at = axis - (rank - s.rank());
    return at < 0 ? 1 : s[at];
  };
  std::vector<std::int64_t> dims;
  for (int axis = 0; axis < rank; ++axis)
    dims.push_back(std::max(extent(a.shape, axis), extent(b.shape, axis)));
  HostTensor y{Shape(dims)};
  for (std::size_t i = 0; i < y.size(); ++i) {
    const auto at = [&](const HostTensor& t) {
      auto rest = static_cast<std::int64_t>(i);
      std::int64_t offset = 0, step = 1;
      for (int axis = rank - 1; axis >= 0; --axis) {
        const std::int64_t where = rest % dims[static_cast<std::size_t>(axis)];
        rest /= dims[static_cast<std::size_t>(axis)];
        if (extent(t.shape, axis) > 1) offset += where * step;
        step *= extent(t.shape, axis);
      }
      return t[static_cast<std::size_t>(offset)];
    };
    y[i] = f(at(a), at(b));
  }
  return y;
}

OP_FAMILY(broadcast) {
  struct Shapes {
    const char* name;
    Shape left, right;
  };
  const Shapes shapes[] = {{"equal shapes", {3, 4}, {3, 4}},
                           {"a row", {3, 4}, {1, 4}},
                           {"a column", {3, 1}, {3, 4}},
                           {"both are stretched", {2, 1, 3}, {1, 4, 3}},
                           {"a single number", {1, 1}, {2, 3}},
                           {"per channel", {2, 16, 3, 2}, {1, 16, 1, 1}},
                           {"per sample's channel", {2, 16, 5, 7}, {2, 16, 1, 1}},
                           {"without the batch", {16, 1, 1}, {2, 16, 3, 2}}};
  for (const BinaryRow& r : kBinaryRows) {
    c.op(std::string("broadcast_") + r.word);
    for (const Shapes& s : shapes) {
      c.add(s.name)
          .in(s.left, r.lo, r.hi)
          .in(s.right, r.lo, r.hi)
          .ref([f = r.f](const HostTensors& in) { return stretched(f, in[0], in[1]); });
    }
    c.add("shapes that do not fit").in({2, 3}).in({2, 4}).raises("cannot be broadcast");
    if (!r.integers) continue;
    c.add("integers")
        .in({2, 1}, {7, -7})
        .in({1, 3}, {7, 0, 3})
        .ref([f = r.f](const HostTensors& in) { return stretched(f, in[0], in[1]); })
        .dtypes({DType::kInt32, DType::kInt64});
  }
}

}  // namespace
}  // namespace symbind
