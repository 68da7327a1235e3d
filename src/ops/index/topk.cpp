// The order of the elements of a row: topk, sort and argsort.
//
//   topk     the first k of a row in descending (is_ascend: ascending) order: values, indices,
//            both, or a mask that is 1 at their positions
//   sort     all values of a row in order          argsort   their indices
//
// Decided here: equal values keep their order; NaN comes last either way. Without an axis the whole
// array is one row. k below 1 means the whole row. The gradient goes back to the positions of the
// values: these are a second output, hidden in int64 unless they are requested.
#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>

#include <symbind/operator.h>

#include "base/check.h"
#include "base/parallel.h"
#include "graph/forward_rule.h"
#include "kernels/gather.h"
#include "ndarray/convert.h"
#include "ndarray/dtype_dispatch.h"

namespace symbind {
namespace {

struct TopkAttrs {
  std::optional<int> axis = -1;
  int k = 1;
  std::string ret_typ = "indices";
  bool is_ascend = false;
  DType dtype = DType::kFloat32;
  void describe(AttrVisitor& v) {
    v.field("axis", axis, "The axis along which to choose; None takes the array as one row.");
    v.field("k", k, "How many to choose; below 1 means all.");
    v.field("ret_typ", ret_typ, "What to return of the chosen ones.")
        .choices({"both", "indices", "mask", "value"});
    v.field("is_ascend", is_ascend, "Whether the smallest are chosen instead of the largest.");
    v.field("dtype", dtype, "The element type of the indices.");
  }
};
struct SortAttrs {
  std::optional<int> axis = -1;
  bool is_ascend = true;
  void describe(AttrVisitor& v) {
    v.field("axis", axis, "The axis along which to sort; None takes the array as one row.");
    v.field("is_ascend", is_ascend, "Whether values ascend.");
  }
};
struct ArgsortAttrs : SortAttrs {
  DType dtype = DType::kFloat32;
  void describe(AttrVisitor& v) {
    SortAttrs::describe(v);
    v.field("dtype", dtype, "The element type of the indices.");
  }
};

TopkAttrs as_topk(const SortAttrs& a) {
  return {
      .axis = a.axis, .k = 0, .ret_typ = "value", .is_ascend = a.is_ascend, .dtype = DType::kInt64};
}
TopkAttrs as_topk(const ArgsortAttrs& a) {
  return {.axis = a.axis, .k = 0, .ret_typ = "indices", .is_ascend = a.is_ascend, .dtype = a.dtype};
}
const TopkAttrs& as_topk(const TopkAttrs& a) { return a; }

// ---- shapes

/// The number chosen of a row.
std::int64_t chosen(const TopkAttrs& a, std::int64_t extent) {
  check(a.k <= extent || extent < 0, "k={} exceeds the {} elements of a row; k must not be larger",
        a.k, extent);
  return a.k < 1 ? extent : a.k;
}

void infer_rows(const TopkAttrs& a, Inference& io) {
  const Shape in = io.shape(io.in(0));
  if (a.ret_typ == "mask") return io.same_shape(io.in(0), io.out(0));
  Shape out;
  if (!a.axis) {
    out = Shape{in.known() ? chosen(a, in.size()) : a.k < 1 ? kUnknownDim : a.k};
  } else {
    const Shape& known = io.shape(io.out(0));
    const int rank = in.rank_known() ? in.rank() : known.rank();
    if (rank < 0) return;
    const int axis = normalize_axis(*a.axis, rank);
    out = in.rank_known() ? in : Shape::of_rank(rank);
    out[axis] = chosen(a, out[axis]);
    io.set_shape(io.out(0), out, "k along the axis, the input elsewhere");
    Shape back = io.shape(io.out(0));
    if (a.k >= 1) back[axis] = kUnknownDim;
    io.set_shape(io.in(0), back, "the output, but for the axis");
    out = io.shape(io.out(0));
  }
  for (int i = 0; i < io.num_outputs(); ++i) io.set_shape(io.out(i), out, "the chosen of each row");
}

template <class A>
void infer(const A& attrs, Inference& io) {
  const TopkAttrs& a = as_topk(attrs);
  if (a.ret_typ == "indices") {
    io.set_dtype(io.out(0), a.dtype, "attribute dtype");
  } else {
    io.same_dtype(io.in(0), io.out(0));
    if (a.ret_typ == "both") io.set_dtype(io.out(1), a.dtype, "attribute dtype");
    if (a.ret_typ == "value") io.set_dtype(io.out(1), DType::kInt64);
  }
  infer_rows(a, io);
}

/// Whole numbers up to here are exact.
std::int64_t largest_exact(DType dtype) {
  switch (dtype) {
    case DType::kFloat32: return 1 << 24;
    case DType::kFloat16: return 1 << 11;
    case DType::kBFloat16: return 1 << 8;
    case DType::kFloat64: return std::int64_t{1} << 53;
    case DType::kUint8: return 255;
    case DType::kInt8: return 127;
    case DType::kInt32: return std::numeric_limits<std::int32_t>::max();
    default: return std::numeric_limits<std::int64_t>::max();
  }
}

// Inputs: head, indices, data (its shape).
void infer_backward(const TopkAttrs& a, Inference& io) {
  io.same_shape(io.in(2), io.out(0));
  io.same_dtype(io.in(0), io.out(0));
  io.same_dtype(io.in(2), io.out(0));
  tie_to_forward(a, io, infer_rows,
                 {.inputs = 1, .outputs = 2, .from = {io.out(0), io.out(1), io.in(0)}});
  const Shape& in = io.shape(io.in(2));
  if (!in.known() || io.dtype(io.in(1)) == DType::kUnknown) return;
  const std::int64_t extent = a.axis ? in[normalize_axis(*a.axis, in.rank())] : in.size();
  check(extent <= largest_exact(io.dtype(io.in(1))),
        "the gradient of topk reads its indices, but dtype {} cannot hold the indices of {} "
        "elements exactly; use dtype='int32' or 'int64'",
        dtype_name(io.dtype(io.in(1))), extent);
}

NodeEntries gradient(const TopkAttrs& a, GradientBuilder& g) {
  if (a.ret_typ != "value" && a.ret_typ != "both") return {{}};
  return g.call_with_same_attrs("_backward_topk", {g.head(0), g.output(1), g.input(0)});
}
NodeEntries gradient_sort(const SortAttrs& a, GradientBuilder& g) {
  return {g.call(
      "_backward_topk", {g.head(0), g.output(1), g.input(0)},
      {{"axis", a.axis ? std::to_string(*a.axis) : "None"}, {"k", "0"}, {"ret_typ", "value"}})};
}

// ---- kernels

struct Rows {
  std::int64_t outer = 1, extent = 1, inner = 1, k = 1;
  Rows(const TopkAttrs& a, const Shape& in) {
    const int axis = a.axis ? normalize_axis(*a.axis, in.rank()) : 0;
    outer = a.axis ? in.count(0, axis) : 1;
    extent = a.axis ? in[axis] : in.size();
    inner = a.axis ? in.count(axis + 1) : 1;
    k = chosen(a, extent);
  }
  std::int64_t count() const { return outer * inner; }
  /// Elements of the workspace that choosing one row takes.
  std::int64_t work_size() const { return k == 1 ? 1 : extent; }
  /// Where row `row` begins in an array with `length` elements along the axis; its step is inner.
  std::int64_t begin(std::int64_t row, std::int64_t length) const {
    return row / inner * length * inner + row % inner;
  }
};

/// Elements of up to 32 bits with their index as one number: comparing two of these numbers
/// compares the elements in the requested order and, of equal ones, the indices. NaN has the
/// largest number in either order, and -0 equals 0.
template <class T>
std::uint64_t key_of(T x, std::int64_t index, bool rising) {
  std::uint32_t order;
  if constexpr (std::is_integral_v<T>) {
    order =
        static_cast<std::uint32_t>(std::int64_t{x} - std::int64_t{std::numeric_limits<T>::min()});
  } else {
    const auto value = static_cast<float>(x);
    const auto bits = std::bit_cast<std::uint32_t>(value == 0 ? 0.f : value);
    order = (bits & 0x80000000u) != 0 ? ~bits : bits | 0x80000000u;
    if (value != value) order = rising ? 0xffffffffu : 0;
  }
  if (!rising) order = ~order;
  return std::uint64_t{order} << 32 | static_cast<std::uint64_t>(index);
}

template <class T>
constexpr bool kHasKey = sizeof(T) <= 4;

/// The indices of the first k of a row, in order, into `places`, which has rows.work_size()
/// elements.
template <class T>
void choose(const T* x, const Rows& rows, bool rising, std::int64_t* places) {
  const auto before = [x, step = rows.inner, rising](std::int64_t i, std::int64_t j) {
    const T &a = x[i * step], &b = x[j * step];
    if constexpr (!std::is_integral_v<T>) {
      const bool nan_a = a != a, nan_b = b != b;
      if (nan_a || nan_b) return nan_a == nan_b ? i < j : nan_b;
    }
    if (a < b) return rising;
    if (b < a) return !rising;
    return i < j;
  };
  if (rows.k == 1) {
    std::int64_t best = 0;
    for (std::int64_t i = 1; i < rows.extent; ++i)
      if (before(i, best)) best = i;
    places[0] = best;
    return;
  }
  const auto put_first = [&](auto* begin, auto... compare) {
    if (rows.k < rows.extent)
      std::nth_element(begin, begin + rows.k, begin + rows.extent, compare...);
    std::sort(begin, begin + rows.k, compare...);
  };
  if constexpr (kHasKey<T>) {
    if (rows.extent <= std::numeric_limits<std::uint32_t>::max()) {
      auto* keys = reinterpret_cast<std::uint64_t*>(places);  // the unsigned form of the same type
      for (std::int64_t i = 0; i < rows.extent; ++i) keys[i] = key_of(x[i * rows.inner], i, rising);
      put_first(keys);
      for (std::int64_t i = 0; i < rows.k; ++i) keys[i] &= 0xffffffffu;
      return;
    }
  }
  std::iota(places, places + rows.extent, 0);
  put_first(places, before);
}

/// Calls use(row, places) for every row; every thread has its own part of the workspace.
template <class T, class Use>
void each_row(const Rows& rows, bool rising, int threads, const T* x, void* workspace, Use use) {
  if (rows.count() == 0 || rows.extent == 0) return;
  parallel_for(threads, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t t = begin; t < end; ++t) {
      auto* places = static_cast<std::int64_t*>(workspace) + t * rows.work_size();
      for (std::int64_t row = rows.count() * t / threads; row < rows.count() * (t + 1) / threads;
           ++row) {
        choose(x + rows.begin(row, rows.extent), rows, rising, places);
        use(row, places);
      }
    }
  });
}

int threads_for(const Rows& rows, const KernelRequest& q) {
  const std::int64_t useful = rows.count() * rows.extent / 8192;
  return static_cast<int>(std::clamp<std::int64_t>(std::min<std::int64_t>(useful, rows.count()), 1,
                                                   std::max(1, q.threads)));
}

template <class A>
Offer offer(const A& attrs, const KernelRequest& q) {
  const Rows rows(as_topk(attrs), q.in[0].shape);
  const std::int64_t places = threads_for(rows, q) * rows.work_size();
  return accept_plain(q, static_cast<std::size_t>(places) * sizeof(std::int64_t));
}

template <class I>
void write_places(const Rows& rows, std::int64_t row, const std::int64_t* places, I* out) {
  out += rows.begin(row, rows.k);
  for (std::int64_t i = 0; i < rows.k; ++i) out[i * rows.inner] = convert_element<I>(places[i]);
}

template <class A>
Prepared prepare(const A& attrs, const KernelRequest& q, const Offer&) {
  const TopkAttrs a = as_topk(attrs);
  Rows rows(a, q.in[0].shape);
  const int threads = threads_for(rows, q);
  const bool mask = a.ret_typ == "mask", values = !mask && a.ret_typ != "indices";
  const int index_output = values ? 1 : 0;
  const DType index_type =
      mask ? DType::kInt64 : q.out[static_cast<std::size_t>(index_output)].dtype;
  const std::int64_t size = q.in[0].shape.size();
  return dispatch_dtype(q.in[0].dtype, [&]<class T>() -> Prepared {
    return [=, rising = a.is_ascend](const Args& args) {
      const T* x = args.in<T>(0);
      T* y = args.out<T>(0);
      if (mask) std::fill_n(y, size, T(0));
      each_row(rows, rising, threads, x, args.workspace,
               [&](std::int64_t row, const std::int64_t* places) {
                 const std::int64_t from = rows.begin(row, rows.extent);
                 for (std::int64_t i = 0; (mask || values) && i < rows.k; ++i) {
                   const std::int64_t at = from + places[i] * rows.inner;
                   if (mask)
                     y[at] = T(1);
                   else
                     y[rows.begin(row, rows.k) + i * rows.inner] = x[at];
                 }
                 if (mask || !args.wants(index_output)) return;
                 dispatch_dtype(index_type, [&]<class I>() {
                   write_places(rows, row, places, args.out<I>(index_output));
                 });
               });
    };
  });
}

Prepared prepare_backward(const TopkAttrs& a, const KernelRequest& q) {
  return dispatch_dtype(q.out[0].dtype, [&]<class T>() -> Prepared {
    return [rows = Rows(a, q.out[0].shape), n = q.out[0].shape.size(),
            index = q.in[1].dtype](const Args& args) {
      const T* dy = args.in<T>(0);
      T* dx = args.out<T>(0);
      std::fill_n(dx, n, T(0));
      dispatch_dtype(index, [&]<class I>() {
        const I* places = args.in<I>(1);
        for (std::int64_t row = 0; row < rows.count(); ++row) {
          const std::int64_t from = rows.begin(row, rows.k), to = rows.begin(row, rows.extent);
          for (std::int64_t i = from; i < from + rows.k * rows.inner; i += rows.inner)
            dx[to + checked_index(places[i], rows.extent) * rows.inner] = dy[i];
        }
      });
    };
  });
}

using Names = std::vector<std::string>;

}  // namespace

void register_topk(OpRegistry& r) {
  r.add<TopkAttrs>("topk")
      .doc("The k largest or smallest elements along an axis, in order.")
      .outputs(
          [](const TopkAttrs& a) {
            const bool two = a.ret_typ == "both" || a.ret_typ == "value";
            return two ? Names{"output0", "output1"} : Names{"output"};
          },
          [](const TopkAttrs& a) { return a.ret_typ == "both" ? 2 : 1; })
      .skips_unread(1)
      .infer(infer)
      .gradient(gradient)
      .kernel(DeviceType::kCpu, "reference", offer<TopkAttrs>, prepare<TopkAttrs>);
  r.add<TopkAttrs>("_backward_topk")
      .inputs(Names{"head", "indices", "data"})
      .infer(infer_backward)
      .shape_only({2})
      .backward()
      .reference(prepare_backward);
  r.add<SortAttrs>("sort")
      .doc("The elements in order along an axis.")
      .outputs({"output0", "output1"}, 1)
      .skips_unread(1)
      .infer(infer)
      .gradient(gradient_sort)
      .kernel(DeviceType::kCpu, "reference", offer<SortAttrs>, prepare<SortAttrs>);
  r.add<ArgsortAttrs>("argsort")
      .flops(1, Per::kFirstInput)
      .doc("The indices of the elements in order along an axis.")
      .infer(infer)
      .gradient([](const ArgsortAttrs&, GradientBuilder&) -> NodeEntries { return {{}}; })
      .kernel(DeviceType::kCpu, "reference", offer<ArgsortAttrs>, prepare<ArgsortAttrs>);
}

}  // namespace symbind
