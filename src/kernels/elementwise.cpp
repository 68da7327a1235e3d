#include "kernels/elementwise.h"

#include <algorithm>

#include "base/check.h"
#include "base/parallel.h"

namespace symbind {
namespace {

struct Buffer {
  alignas(64) char bytes[kChunk * 8];
};

}  // namespace

UnaryRun::UnaryRun(const UnaryFunction& f, DType dtype) {
  const bool exact = f.forward[static_cast<std::size_t>(Compute::kInt64)] != nullptr;
  type = element_type(dtype, exact ? Compute::kInt64 : Compute::kDouble);
  loop = f.forward[static_cast<std::size_t>(type.compute)];
}

void UnaryRun::operator()(const void* x, void* y, std::int64_t n) const {
  const auto* xs = static_cast<const char*>(x);
  auto* ys = static_cast<char*>(y);
  const auto size = static_cast<std::int64_t>(type.size);
  parallel_for(n, grain, [&](std::int64_t begin, std::int64_t end) {
    if (type.load == nullptr) return loop(xs + begin * size, ys + begin * size, end - begin);
    Buffer buffer;
    for (std::int64_t i = begin; i < end; i += kChunk) {
      const std::int64_t count = std::min(kChunk, end - i);
      type.load(xs + i * size, buffer.bytes, count);
      loop(buffer.bytes, buffer.bytes, count);
      type.store(buffer.bytes, ys + i * size, count);
    }
  });
}

void BinaryRun::serial(const char* a, const char* b, char* y, std::int64_t n, Operand form) const {
  if (type.load == nullptr) return loop(a, b, y, n);
  Buffer left, right;
  const auto size = static_cast<std::int64_t>(type.size);
  for (std::int64_t i = 0; i < n; i += kChunk) {
    const std::int64_t count = std::min(kChunk, n - i);
    if (form != Operand::kLeftValue) type.load(a + i * size, left.bytes, count);
    if (form != Operand::kRightValue) type.load(b + i * size, right.bytes, count);
    const void* l = form == Operand::kLeftValue ? static_cast<const void*>(a) : left.bytes;
    const void* r = form == Operand::kRightValue ? static_cast<const void*>(b) : right.bytes;
    loop(l, r, left.bytes, count);
    type.store(left.bytes, y + i * size, count);
  }
}

void BinaryRun::operator()(const void* a, const void* b, void* y, std::int64_t n,
                           Operand form) const {
  const auto* as = static_cast<const char*>(a);
  const auto* bs = static_cast<const char*>(b);
  auto* ys = static_cast<char*>(y);
  const auto size = static_cast<std::int64_t>(type.size);
  parallel_for(n, grain, [&](std::int64_t begin, std::int64_t end) {
    const std::int64_t at = begin * size;
    serial(form == Operand::kLeftValue ? as : as + at, form == Operand::kRightValue ? bs : bs + at,
           ys + at, end - begin, form);
  });
}

BroadcastWalk::BroadcastWalk(const Shape& a, const Shape& b, const Shape& out) : size(out.size()) {
  const int n = out.rank();
  const auto strides = [n, &out](const Shape& s) {
    std::array<std::int64_t, kMaxRank> result{};
    std::int64_t stride = 1;
    for (int d = n - 1, k = s.rank() - 1; d >= 0; --d, --k) {
      const std::int64_t extent = k >= 0 ? s[k] : 1;
      result[static_cast<std::size_t>(d)] = extent == 1 && out[d] != 1 ? 0 : stride;
      stride *= extent;
    }
    return result;
  };
  const auto sa = strides(a), sb = strides(b);
  // From the last axis up: an axis is merged with the one below it if both operands have a regular
  // stride there.
  std::array<std::int64_t, kMaxRank> e{}, ea{}, eb{};
  int count = 0;
  for (int d = n - 1; d >= 0; --d) {
    const auto k = static_cast<std::size_t>(d);
    if (out[d] == 1) continue;
    if (count > 0) {
      const auto top = static_cast<std::size_t>(count - 1);
      if (sa[k] == ea[top] * e[top] && sb[k] == eb[top] * e[top]) {
        e[top] *= out[d];
        continue;
      }
    }
    const auto top = static_cast<std::size_t>(count++);
    e[top] = out[d];
    ea[top] = sa[k];
    eb[top] = sb[k];
  }
  if (count == 0) {
    count = 1;
    e[0] = size;  // 1, or 0 for an empty array
    ea[0] = eb[0] = 1;
  }
  rank = count;
  for (int i = 0; i < count; ++i) {
    const auto from = static_cast<std::size_t>(count - 1 - i), to = static_cast<std::size_t>(i);
    extent[to] = e[from];
    a_stride[to] = ea[from];
    b_stride[to] = eb[from];
  }
}

Operand BroadcastWalk::form() const {
  const auto last = static_cast<std::size_t>(rank - 1);
  if (a_stride[last] == 0) return Operand::kLeftValue;
  return b_stride[last] == 0 ? Operand::kRightValue : Operand::kArrays;
}

void run_broadcast(const BroadcastWalk& w, const BinaryLoop forms[3], const ElementType& type,
                   const void* a, const void* b, void* y) {
  const Operand form = w.form();
  const BinaryRun run(forms[static_cast<int>(form)], type);
  const auto* as = static_cast<const char*>(a);
  const auto* bs = static_cast<const char*>(b);
  auto* ys = static_cast<char*>(y);
  const auto size = static_cast<std::int64_t>(type.size);
  for_runs(w, run.grain, [&](std::int64_t at, std::int64_t ia, std::int64_t ib, std::int64_t n) {
    const char *pa = as + ia * size, *pb = bs + ib * size;
    alignas(8) char value[8];
    if (type.load != nullptr && form != Operand::kArrays) {
      const char*& single = form == Operand::kLeftValue ? pa : pb;
      type.load(single, value, 1);
      single = value;
    }
    run.serial(pa, pb, ys + at * size, n, form);
  });
}

void run_broadcast(const BroadcastWalk& w, const TernaryLoop forms[3], const ElementType& type,
                   const void* g, const void* a, const void* b, void* y) {
  const Operand form = w.form();
  const TernaryLoop loop = forms[static_cast<int>(form)];
  const auto *gs = static_cast<const char*>(g), *as = static_cast<const char*>(a),
             *bs = static_cast<const char*>(b);
  auto* ys = static_cast<char*>(y);
  const auto size = static_cast<std::int64_t>(type.size);
  const bool left_value = form == Operand::kLeftValue, right_value = form == Operand::kRightValue;
  for_runs(w, 8192, [&](std::int64_t at, std::int64_t ia, std::int64_t ib, std::int64_t n) {
    if (type.load == nullptr)
      return loop(gs + at * size, as + ia * size, bs + ib * size, ys + at * size, n);
    Buffer head, left, right;
    for (std::int64_t i = 0; i < n; i += kChunk) {
      const std::int64_t m = std::min(kChunk, n - i);
      type.load(gs + (at + i) * size, head.bytes, m);
      type.load(as + (left_value ? ia : ia + i) * size, left.bytes, left_value ? 1 : m);
      type.load(bs + (right_value ? ib : ib + i) * size, right.bytes, right_value ? 1 : m);
      loop(head.bytes, left.bytes, right.bytes, head.bytes, m);
      type.store(head.bytes, ys + (at + i) * size, m);
    }
  });
}

bool broadcast_shape(const Shape& a, const Shape& b, Shape& out) {
  out = Shape::unknown();
  if (!a.rank_known() || !b.rank_known()) return true;
  const int rank = std::max(a.rank(), b.rank());
  out = Shape::of_rank(rank);
  for (int d = 1; d <= rank; ++d) {
    const std::int64_t x = d <= a.rank() ? a[a.rank() - d] : 1,
                       y = d <= b.rank() ? b[b.rank() - d] : 1;
    std::int64_t& o = out[rank - d];
    if (x == y || x == 1)
      o = y;
    else if (y == 1)
      o = x;
    else if (x == kUnknownDim || y == kUnknownDim)
      o = std::max(x, y);
    else
      return false;
  }
  return true;
}

}  // namespace symbind
