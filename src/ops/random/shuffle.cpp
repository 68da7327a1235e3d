// _shuffle: the rows (along the first axis) in a uniformly random order (Fisher and Yates; number i
// of the draw decides where row i goes).
//
// _sample_unique_zipfian: for every row of `shape` = (batch, n) n different classes below
// range_max, drawn with P(k) = ln((k + 2) / (k + 1)) / ln(range_max + 1) until there are n, and how
// many draws that took.
//
// Decided here: the permutation and the set of drawn classes are in the workspace. _shuffle has no
// gradient, as in MXNet.
#include <algorithm>
#include <bit>
#include <cstring>

#include <symbind/operator.h>

#include "base/check.h"
#include "base/parallel.h"
#include "ops/random/stream.h"

namespace symbind {
namespace {

// ---- _shuffle -----------------------------------------------------------------------------------

void infer_shuffle(const NoAttrs&, Inference& io) {
  io.all_same_shape();
  io.all_same_dtype();
}

std::int64_t rows_of(const Shape& shape) { return shape.rank() > 0 ? shape[0] : 1; }

Offer offer_shuffle(const NoAttrs&, const KernelRequest& q) {
  return accept_plain(q, static_cast<std::size_t>(rows_of(q.in[0].shape)) * sizeof(std::int64_t));
}

Prepared prepare_shuffle(const NoAttrs&, const KernelRequest& q, const Offer&) {
  const std::int64_t rows = rows_of(q.in[0].shape);
  const std::size_t bytes = rows == 0 ? 0 : q.in[0].bytes() / static_cast<std::size_t>(rows);
  return [rows, bytes](const Args& a) {
    auto* order = static_cast<std::int64_t*>(a.workspace);
    for (std::int64_t i = 0; i < rows; ++i) {
      RandomStream stream(*a.run, i);
      const auto j = static_cast<std::int64_t>(stream.below(static_cast<std::uint64_t>(i) + 1));
      order[i] = order[j];
      order[j] = i;
    }
    const auto* x = static_cast<const std::byte*>(a.inputs[0].data);
    auto* y = static_cast<std::byte*>(a.outputs[0].data);
    parallel_for(rows, 1 + 65536 / static_cast<std::int64_t>(bytes + 1),
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t i = begin; i < end; ++i)
                     std::memcpy(y + static_cast<std::size_t>(i) * bytes,
                                 x + static_cast<std::size_t>(order[i]) * bytes, bytes);
                 });
  };
}

NodeEntries no_gradient(const NoAttrs&, GradientBuilder&) { return NodeEntries(1); }

// ---- _sample_unique_zipfian ---------------------------------------------------------------------

struct ZipfianAttrs {
  int range_max = 0;
  Tuple shape;
  void describe(AttrVisitor& v) {
    v.field("range_max", range_max, "The number of classes.").required().at_least(1);
    v.field("shape", shape, "How many rows, and how many different classes in each.").at_least(1);
  }
};

void infer_zipfian(const ZipfianAttrs& a, Inference& io) {
  for (int o = 0; o < 2; ++o) io.set_dtype(io.out(o), DType::kInt64, "classes are int64");
  Shape shape = io.shape(io.out(0));
  if (!a.shape.empty()) {
    check(a.shape.size() == 2, ErrorKind::kShape, "shape={} must be (batch, samples)",
          tuple_text(a.shape));
    shape = Shape(a.shape);
    io.set_shape(io.out(0), shape, "attribute shape");
  }
  if (!shape.rank_known()) return;
  check(shape.rank() == 2, ErrorKind::kShape, "shape {} must be (batch, samples)", shape.str());
  check(shape[1] <= a.range_max, "{} different classes of {} cannot be drawn", shape[1],
        a.range_max);
  io.set_shape(io.out(1), Shape{shape[0]}, "one count for every row");
}

/// A set of classes with open addressing; it has at least twice as many slots as members.
class ClassSet {
 public:
  ClassSet(std::int64_t* places, std::size_t count) : places_(places), mask_(count - 1) {
    std::fill_n(places, count, std::int64_t{-1});
  }
  static std::size_t places_for(std::int64_t members) {
    return std::bit_ceil(2 * static_cast<std::size_t>(members) + 2);
  }
  bool insert(std::int64_t member) {
    std::size_t at = (static_cast<std::uint64_t>(member) * 0x9E3779B97F4A7C15u >> 20) & mask_;
    while (places_[at] >= 0 && places_[at] != member) at = (at + 1) & mask_;
    const bool is_new = places_[at] < 0;
    places_[at] = member;
    return is_new;
  }

 private:
  std::int64_t* places_;
  std::size_t mask_;
};

Offer offer_zipfian(const ZipfianAttrs&, const KernelRequest& q) {
  return accept_plain(q, ClassSet::places_for(q.out[0].shape[1]) * sizeof(std::int64_t));
}

Prepared prepare_zipfian(const ZipfianAttrs& attrs, const KernelRequest& q, const Offer&) {
  return
      [rows = q.out[0].shape[0], n = q.out[0].shape[1], classes = attrs.range_max](const Args& a) {
        const double log_range = std::log(classes + 1.0);
        for (std::int64_t row = 0; row < rows; ++row) {
          ClassSet met(static_cast<std::int64_t*>(a.workspace), ClassSet::places_for(n));
          RandomStream stream(*a.run, row);
          std::int64_t found = 0, draws = 0;
          for (; found < n; ++draws) {
            const double drawn = std::exp(stream.unit() * log_range) - 1;
            const auto k = std::min<std::int64_t>(static_cast<std::int64_t>(drawn), classes - 1);
            if (!met.insert(k)) continue;
            if (a.wants(0)) a.out<std::int64_t>(0)[row * n + found] = k;
            ++found;
          }
          if (a.wants(1)) a.out<std::int64_t>(1)[row] = draws;
        }
      };
}

NodeEntries none(const ZipfianAttrs&, GradientBuilder&) { return {}; }

}  // namespace

void register_shuffle(OpRegistry& r) {
  r.add("_shuffle")
      .doc("The rows in random order.")
      .alias("shuffle")
      .infer(infer_shuffle)
      .gradient(no_gradient)
      .random()
      .kernel(DeviceType::kCpu, "reference", offer_shuffle, prepare_shuffle);
  r.add<ZipfianAttrs>("_sample_unique_zipfian")
      .doc("Different classes, small ones more often than large ones, and how many draws it took.")
      .inputs(std::vector<std::string>{})
      .outputs({"output0", "output1"})
      .skips_unread()
      .infer(infer_zipfian)
      .gradient(none)
      .random()
      .kernel(DeviceType::kCpu, "reference", offer_zipfian, prepare_zipfian);
}

}  // namespace symbind
