// Concat, stack, SliceChannel, slices, transposes, Cast, Pad, tile, repeat, broadcast_to and kin.

#include <cmath>

#include "tests/support/op_case.h"

namespace symbind {
namespace {

std::size_t at(int axis) { return static_cast<std::size_t>(axis); }
const std::vector<DType> kAll = {DType::kFloat32,  DType::kFloat64, DType::kFloat16,
                                 DType::kBFloat16, DType::kInt32,   DType::kInt64,
                                 DType::kInt8,     DType::kUint8};

/// Joined along `axis`.
auto joined(int axis) {
  return [axis](const HostTensors& in) {
    Shape shape = in[0].shape;
    for (std::size_t i = 1; i < in.size(); ++i) shape[axis] += in[i].shape[axis];
    return from_coordinates(shape, [&](Coordinates c) {
      std::size_t which = 0;
      for (; c[at(axis)] >= in[which].shape[axis]; ++which) c[at(axis)] -= in[which].shape[axis];
      return in[which].at(c);
    });
  };
}
OP_CASES(Concat) {
  c.add("rows")
      .attr("dim", 0)
      .in({2, 3}, 0, 9)
      .in({1, 3}, 0, 9)
      .in({3, 3}, 0, 9)
      .ref(joined(0))
      .dtypes(kAll);
  c.add("channels in whole blocks").in({2, 16, 2, 3}).in({2, 32, 2, 3}).ref(joined(1));
  c.add("channels with a rest").in({2, 16, 2, 3}).in({2, 5, 2, 3}).ref(joined(1));
  c.add("the last axis").attr("dim", -1).in({2, 3, 4}).in({2, 3, 1}).ref(joined(2));
  c.add("other axes differ").in({2, 3}).in({3, 3}).raises("(3, 3)");
  c.recorded();
}
OP_CASES(stack) {
  c.add("a new first axis").in({2, 3}).in({2, 3}).ref([](const HostTensors& in) {
    return from_coordinates({2, 2, 3}, [&](Coordinates k) {
      return in[at(static_cast<int>(k[0]))].at({k[1], k[2]});
    });
  });
  c.add("a new last axis")
      .attr("axis", -1)
      .in({2, 3})
      .in({2, 3})
      .in({2, 3})
      .ref([](const HostTensors& in) {
        return from_coordinates({2, 3, 3}, [&](Coordinates k) {
          return in[at(static_cast<int>(k[2]))].at({k[0], k[1]});
        });
      });
}
OP_CASES(SliceChannel) {
  c.add("three parts")
      .attr("num_outputs", 3)
      .in({2, 6, 2}, 0, 9)
      .dtypes(kAll)
      .ref([](const HostTensors& in) {
        HostTensors parts;
        for (int p = 0; p < 3; ++p)
          parts.push_back(from_coordinates({2, 2, 2}, [&](Coordinates k) {
            return in[0].at({k[0], k[1] + 2 * p, k[2]});
          }));
        return parts;
      });
  c.add("does not divide").attr("num_outputs", 4).in({2, 6}).raises("4");
  c.recorded();
}
OP_CASES(slice) {
  c.add("steps both ways")
      .attr("begin", "(0, None)")
      .attr("end", "(4, None)")
      .attr("step", "(2, -1)")
      .in({4, 3}, 0, 9)
      .dtypes(kAll)
      .ref([](const HostTensors& in) {
        return from_coordinates({2, 3}, [&](Coordinates k) {
          return in[0].at({2 * k[0], 2 - k[1]});
        });
      });
  c.recorded();
}
OP_CASES(slice_axis) {
  c.add("the middle")
      .attr("axis", 1)
      .attr("begin", 1)
      .attr("end", -1)
      .in({2, 5, 2}, 0, 9)
      .dtypes(kAll)
      .ref([](const HostTensors& in) {
        return from_coordinates({2, 3, 2}, [&](Coordinates k) {
          return in[0].at({k[0], k[1] + 1, k[2]});
        });
      });
  c.add("axis out of range").attr("axis", 3).attr("begin", 0).attr("end", 1).in({2, 2}).raises("3");
  c.recorded();
}
OP_CASES(slice_like) {
  c.add("all axes").in({4, 5}).in({2, 3}).no_grad(1).ref([](const HostTensors& in) {
    return from_coordinates({2, 3}, [&](Coordinates k) { return in[0].at(k); });
  });
  c.add("one axis")
      .attr("axes", "(1,)")
      .in({4, 5})
      .in({2, 3})
      .no_grad(1)
      .ref([](const HostTensors& in) {
        return from_coordinates({4, 3}, [&](Coordinates k) { return in[0].at(k); });
      });
}
OP_CASES(transpose) {
  c.add("reversed").in({2, 3, 4}, 0, 9).dtypes(kAll).ref([](const HostTensors& in) {
    return from_coordinates({4, 3, 2}, [&](Coordinates k) { return in[0].at({k[2], k[1], k[0]}); });
  });
  c.add("channels last")
      .attr("axes", "(0, 2, 3, 1)")
      .in({2, 16, 3, 2})
      .ref([](const HostTensors& in) {
        return from_coordinates({2, 3, 2, 16}, [&](Coordinates k) {
          return in[0].at({k[0], k[3], k[1], k[2]});
        });
      });
  c.add("an axis twice").attr("axes", "(0, 0)").in({2, 3}).raises("(0, 0)");
  c.recorded();
}
OP_CASES(SwapAxis) {
  c.add("first and last")
      .attr("dim1", 0)
      .attr("dim2", 2)
      .in({2, 3, 4}, 0, 9)
      .dtypes(kAll)
      .ref([](const HostTensors& in) {
        return from_coordinates({4, 3, 2}, [&](Coordinates k) {
          return in[0].at({k[2], k[1], k[0]});
        });
      });
  c.recorded();
}
OP_CASES(Cast) {
  c.add("to float64").attr("dtype", "float64").in({3, 4}).ref([](double x) { return x; });
  c.add("to int32 cuts")
      .attr("dtype", "int32")
      .in({5}, {-1.75, -0.5, 0.5, 1.75, 3})
      .no_grad()
      .ref([](double x) { return std::trunc(x); });
  c.recorded();
}
OP_CASES(Pad) {
  const char* widths = "(0, 0, 0, 0, 1, 2, 2, 1)";
  const auto source = [](std::int64_t i, std::int64_t before, std::int64_t n, bool reflect) {
    i -= before;
    if (reflect) return i < 0 ? -i : i >= n ? 2 * n - 2 - i : i;
    return std::min(std::max<std::int64_t>(i, 0), n - 1);
  };
  for (const bool reflect : {false, true}) {
    c.add(reflect ? "reflected" : "the edge")
        .attr("mode", reflect ? "reflect" : "edge")
        .attr("pad_width", widths)
        .in({2, 2, 4, 5})
        .ref([=](const HostTensors& in) {
          return from_coordinates({2, 2, 7, 8}, [&](Coordinates k) {
            return in[0].at({k[0], k[1], source(k[2], 1, 4, reflect), source(k[3], 2, 5, reflect)});
          });
        });
  }
  c.add("a constant")
      .attr("mode", "constant")
      .attr("constant_value", 1.5)
      .attr("pad_width", widths)
      .in({2, 2, 4, 5})
      .ref([](const HostTensors& in) {
        return from_coordinates({2, 2, 7, 8}, [&](Coordinates k) {
          const bool inside = k[2] >= 1 && k[2] < 5 && k[3] >= 2 && k[3] < 7;
          return inside ? in[0].at({k[0], k[1], k[2] - 1, k[3] - 2}) : 1.5;
        });
      });
}
OP_CASES(tile) {
  c.add("both axes")
      .attr("reps", "(2, 3)")
      .in({2, 3}, 0, 9)
      .dtypes(kAll)
      .ref([](const HostTensors& in) {
        return from_coordinates({4, 9}, [&](Coordinates k) {
          return in[0].at({k[0] % 2, k[1] % 3});
        });
      });
  c.add("a new axis").attr("reps", "(2, 1, 2)").in({2, 3}).ref([](const HostTensors& in) {
    return from_coordinates({2, 2, 6}, [&](Coordinates k) { return in[0].at({k[1], k[2] % 3}); });
  });
}
OP_CASES(repeat) {
  c.add("along an axis")
      .attr("repeats", 3)
      .attr("axis", 1)
      .in({2, 3}, 0, 9)
      .dtypes(kAll)
      .ref([](const HostTensors& in) {
        return from_coordinates({2, 9}, [&](Coordinates k) { return in[0].at({k[0], k[1] / 3}); });
      });
  c.add("flat").attr("repeats", 2).in({2, 3}).ref([](const HostTensors& in) {
    return from_coordinates(
        {12}, [&](Coordinates k) { return in[0][static_cast<std::size_t>(k[0] / 2)]; });
  });
}
OP_CASES(broadcast_to) {
  c.add("rows and columns")
      .attr("shape", "(2, 3, 4)")
      .in({2, 1, 4}, 0, 9)
      .dtypes(kAll)
      .ref([](const HostTensors& in) {
        return from_coordinates({2, 3, 4}, [&](Coordinates k) {
          return in[0].at({k[0], 0, k[2]});
        });
      });
  c.add("0 keeps").attr("shape", "(0, 3)").in({2, 1}).ref([](const HostTensors& in) {
    return from_coordinates({2, 3}, [&](Coordinates k) { return in[0].at({k[0], 0}); });
  });
  c.add("not a 1").attr("shape", "(2, 4)").in({2, 3}).raises("(2, 4)");
}
OP_CASES(broadcast_axis) {
  c.add("two axes")
      .attr("axis", "(0, 2)")
      .attr("size", "(2, 3)")
      .in({1, 2, 1}, 0, 9)
      .dtypes(kAll)
      .ref([](const HostTensors& in) {
        return from_coordinates({2, 2, 3}, [&](Coordinates k) { return in[0].at({0, k[1], 0}); });
      });
}
OP_CASES(broadcast_like) {
  c.add("another's shape").in({1, 3}).in({2, 3}).no_grad(1).ref([](const HostTensors& in) {
    return from_coordinates({2, 3}, [&](Coordinates k) { return in[0].at({0, k[1]}); });
  });
}

}  // namespace
}  // namespace symbind
