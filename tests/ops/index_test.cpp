// Embedding, take, pick, one_hot, where.

#include "tests/support/op_case.h"

namespace symbind {
namespace {

std::int64_t whole(double v) { return static_cast<std::int64_t>(v); }

OP_CASES(Embedding) {
  c.add("rows of the weight")
      .attr("input_dim", 5)
      .attr("output_dim", 3)
      .in_indices({2, 4}, 5)
      .in({5, 3})
      .dtypes({DType::kFloat32, DType::kFloat64})
      .recovers({1})
      .ref([](const HostTensors& in) {
        return from_coordinates({2, 4, 3}, [&](Coordinates k) {
          return in[1].at({whole(in[0].at({k[0], k[1]})), k[2]});
        });
      });
  c.add("in float64")
      .attr("input_dim", 5)
      .attr("output_dim", 3)
      .attr("dtype", "float64")
      .in_indices({6}, 5)
      .in({5, 3})
      .dtypes({DType::kFloat64})
      .ref([](const HostTensors& in) {
        return from_coordinates({6, 3}, [&](Coordinates k) {
          return in[1].at({whole(in[0].at({k[0]})), k[1]});
        });
      });
  c.recorded();
}
OP_CASES(take) {
  c.add("rows").in({4, 3}).in_indices({2, 2}, 4).ref([](const HostTensors& in) {
    return from_coordinates({2, 2, 3}, [&](Coordinates k) {
      return in[0].at({whole(in[1].at({k[0], k[1]})), k[2]});
    });
  });
  c.add("along the last axis")
      .attr("axis", 1)
      .in({3, 4})
      .in_indices({5}, 4)
      .ref([](const HostTensors& in) {
        return from_coordinates({3, 5}, [&](Coordinates k) {
          return in[0].at({k[0], whole(in[1].at({k[1]}))});
        });
      });
  c.add("beyond the ends is clipped")
      .in({3}, {10, 20, 30})
      .in({4}, {-1, 0, 2, 7})
      .no_grad(1)
      .ref({10, 10, 30, 30});
  c.add("beyond the ends wraps")
      .attr("mode", "wrap")
      .in({3}, {10, 20, 30})
      .in({4}, {-1, 0, 2, 4})
      .no_grad(1)
      .ref({30, 10, 30, 20});
}
OP_CASES(pick) {
  c.add("of rows").in({4, 3}).in_indices({4}, 3).ref([](const HostTensors& in) {
    return from_coordinates({4}, [&](Coordinates k) {
      return in[0].at({k[0], whole(in[1].at(k))});
    });
  });
  c.add("of columns, kept")
      .attr("axis", 0)
      .attr("keepdims", true)
      .in({3, 4})
      .in_indices({1, 4}, 3)
      .ref([](const HostTensors& in) {
        return from_coordinates({1, 4}, [&](Coordinates k) {
          return in[0].at({whole(in[1].at({0, k[1]})), k[1]});
        });
      });
}
OP_CASES(one_hot) {
  c.add("rows").attr("depth", 4).in_indices({5}, 4).ref([](const HostTensors& in) {
    return from_coordinates(
        {5, 4}, [&](Coordinates k) { return k[1] == whole(in[0].at({k[0]})) ? 1.0 : 0.0; });
  });
  c.add("other values, out of range")
      .attr("depth", 3)
      .attr("on_value", 2)
      .attr("off_value", -1)
      .in({3}, {0, 5, 2})
      .no_grad()
      .ref({2, -1, -1, -1, -1, -1, -1, -1, 2});
}
OP_CASES(where) {
  c.add("element by element")
      .in_indices({3, 4}, 2)
      .in({3, 4})
      .in({3, 4})
      .ref([](const HostTensors& in) {
        HostTensor y(in[1].shape);
        for (std::size_t i = 0; i < y.size(); ++i) y[i] = in[0][i] != 0 ? in[1][i] : in[2][i];
        return y;
      });
  c.add("row by row")
      .in({3}, {1, 0, 1})
      .no_grad(0)
      .in({3, 2})
      .in({3, 2})
      .ref([](const HostTensors& in) {
        return from_coordinates(
            {3, 2}, [&](Coordinates k) { return (in[0].at({k[0]}) != 0 ? in[1] : in[2]).at(k); });
      });
}

}  // namespace
}  // namespace symbind
