// Decided here: sums have a fixed number of partial sums, by the position within its row: four for
// a sum alone, two for a pair of sums. So the instruction set changes no bits. The numbers missing
// in an incomplete group count as zeros.
#include "kernels/batch_norm/loops.h"

#include <cstring>

#include <hwy/cache_control.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/batch_norm/loops_vector.cpp"
#include <hwy/foreach_target.h>
// The other targets are compiled by now.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace symbind::batch_norm {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <int N>
struct Group {
  using D = hn::CappedTag<float, N>;
  static constexpr int kLanes = static_cast<int>(hn::MaxLanes(D())), kVectors = N / kLanes;
  hn::Vec<D> v[kVectors];

  static HWY_INLINE Group zero() {
    Group g;
    for (auto& v : g.v) v = hn::Zero(D());
    return g;
  }
  static HWY_INLINE Group load(const float* from) {
    Group g;
    for (int k = 0; k < kVectors; ++k) g.v[k] = hn::LoadU(D(), from + k * kLanes);
    return g;
  }
  static HWY_INLINE Group load_first(const float* from, std::int64_t count) {
    HWY_ALIGN float some[N] = {};
    std::memcpy(some, from, static_cast<std::size_t>(count) * sizeof(float));
    return load(some);
  }
  HWY_INLINE void store(float* to) const {
    for (int k = 0; k < kVectors; ++k) hn::StoreU(v[k], D(), to + k * kLanes);
  }
  HWY_INLINE void stream(float* to) const {
    for (int k = 0; k < kVectors; ++k) hn::Stream(v[k], D(), to + k * kLanes);
  }
  HWY_INLINE void store_first(float* to, std::int64_t count) const {
    HWY_ALIGN float some[N];
    store(some);
    std::memcpy(to, some, static_cast<std::size_t>(count) * sizeof(float));
  }
  HWY_INLINE Group operator+(const Group& o) const {
    Group g;
    for (int k = 0; k < kVectors; ++k) g.v[k] = hn::Add(v[k], o.v[k]);
    return g;
  }
  HWY_INLINE Group operator-(const Group& o) const {
    Group g;
    for (int k = 0; k < kVectors; ++k) g.v[k] = hn::Sub(v[k], o.v[k]);
    return g;
  }
  HWY_INLINE Group operator*(const Group& o) const {
    Group g;
    for (int k = 0; k < kVectors; ++k) g.v[k] = hn::Mul(v[k], o.v[k]);
    return g;
  }
};

/// a · b + c
template <int N>
HWY_INLINE Group<N> fma(const Group<N>& a, const Group<N>& b, const Group<N>& c) {
  Group<N> g;
  for (int k = 0; k < Group<N>::kVectors; ++k) g.v[k] = hn::MulAdd(a.v[k], b.v[k], c.v[k]);
  return g;
}
/// c - a · b
template <int N>
HWY_INLINE Group<N> minus_product(const Group<N>& c, const Group<N>& a, const Group<N>& b) {
  Group<N> g;
  for (int k = 0; k < Group<N>::kVectors; ++k) g.v[k] = hn::NegMulAdd(a.v[k], b.v[k], c.v[k]);
  return g;
}
/// x, with zeros after the first `count`.
template <int N>
HWY_INLINE Group<N> first_of(const Group<N>& x, std::int64_t count) {
  HWY_ALIGN float some[N];
  x.store(some);
  for (std::int64_t i = count; i < N; ++i) some[i] = 0;
  return Group<N>::load(some);
}

/// Zeros where the mask at `bits` is not set.
template <int N>
HWY_INLINE Group<N> masked(const Group<N>& x, const std::uint8_t* bits) {
  using G = Group<N>;
  const typename G::D d;
  G g;
  for (int k = 0; k < G::kVectors; ++k) {
    if constexpr (G::kLanes >= 8) {
      g.v[k] = hn::IfThenElseZero(hn::LoadMaskBits(d, bits + k * G::kLanes / 8), x.v[k]);
    } else {
      const int first = k * G::kLanes;
      const std::uint8_t some[8] = {static_cast<std::uint8_t>(bits[first / 8] >> first % 8)};
      g.v[k] = hn::IfThenElseZero(hn::LoadMaskBits(d, some), x.v[k]);
    }
  }
  return g;
}

template <class D, class Mask>
HWY_INLINE void store_bits(D d, const Mask* masks, int vectors, std::uint8_t* bits) {
  constexpr int kLanes = static_cast<int>(hn::MaxLanes(D()));
  for (int k = 0; k < vectors; ++k) {
    if constexpr (kLanes >= 8) {
      hn::StoreMaskBits(d, masks[k], bits + k * kLanes / 8);
    } else {
      std::uint8_t some[8];
      hn::StoreMaskBits(d, masks[k], some);
      const int first = k * kLanes;
      const auto part = static_cast<std::uint8_t>(some[0] << first % 8);
      std::uint8_t& to = bits[first / 8];
      to = first % 8 == 0 ? part : static_cast<std::uint8_t>(to | part);
    }
  }
}

/// x after relu; its mask goes to `bits` unless that is null.
template <int N>
HWY_INLINE Group<N> relu_of(const Group<N>& x, NormRelu relu, std::uint8_t* bits) {
  using G = Group<N>;
  const typename G::D d;
  const auto zero = hn::Zero(d);
  G g;
  hn::Mask<typename G::D> kept[G::kVectors];
  for (int k = 0; k < G::kVectors; ++k) {
    kept[k] = hn::Gt(x.v[k], zero);
    g.v[k] = relu == NormRelu::kKeepsNan ? hn::IfThenElse(hn::Lt(x.v[k], zero), zero, x.v[k])
                                         : hn::IfThenElseZero(kept[k], x.v[k]);
  }
  if (bits != nullptr) store_bits(d, kept, G::kVectors, bits);
  return g;
}

template <int N>
void sum(const Part& p, const float* x, float* sums) {
  using G = Group<N>;
  G s[4] = {G::zero(), G::zero(), G::zero(), G::zero()};
  for (std::int64_t r = 0; r < p.rows; ++r) {
    const float* row = x + r * p.row_step;
    std::int64_t i = 0;
    for (; i + 4 <= p.length; i += 4)
      for (int j = 0; j < 4; ++j) s[j] = s[j] + G::load(row + (i + j) * p.step);
    for (int j = 0; i < p.length; ++i, ++j) s[j] = s[j] + G::load(row + i * p.step);
    if (p.rest > 0) s[3] = s[3] + G::load_first(row + i * p.step, p.rest);
  }
  ((s[0] + s[1]) + (s[2] + s[3])).store(sums);
}

template <int N>
void squares(const Part& p, const float* x, const Parameters& around, float* sums,
             float* products) {
  using G = Group<N>;
  const G mean = G::load(around.at);
  G s[2] = {G::zero(), G::zero()}, q[2] = {G::zero(), G::zero()};
  for (std::int64_t r = 0; r < p.rows; ++r) {
    const float* row = x + r * p.row_step;
    std::int64_t i = 0;
    for (; i + 2 <= p.length; i += 2)
      for (int j = 0; j < 2; ++j) {
        const G d = G::load(row + (i + j) * p.step) - mean;
        s[j] = s[j] + d;
        q[j] = fma(d, d, q[j]);
      }
    if (i < p.length) {
      const G d = G::load(row + i * p.step) - mean;
      s[0] = s[0] + d;
      q[0] = fma(d, d, q[0]);
      ++i;
    }
    if (p.rest > 0) {
      const G d = first_of(G::load_first(row + i * p.step, p.rest) - mean, p.rest);
      s[1] = s[1] + d;
      q[1] = fma(d, d, q[1]);
    }
  }
  (s[0] + s[1]).store(sums);
  (q[0] + q[1]).store(products);
}

template <int N, bool kAdds, bool kRelu>
void normalize_by(const Part& p, const Normalization& n) {
  using G = Group<N>;
  const G mean = G::load(n.mean.at), scale = G::load(n.scale.at), shift = G::load(n.shift.at);
  // Copies: the compiler must assume that a write to the mask changes any other memory.
  const std::int64_t step = p.step, mask_step = p.step / 8, length = p.length;
  const NormRelu relu = n.relu;
  const bool streams = n.stream;
  for (std::int64_t r = 0; r < p.rows; ++r) {
    const float *x = n.x + r * p.row_step, *add = kAdds ? n.add + r * p.row_step : nullptr;
    float* to = n.y + r * p.row_step;
    std::uint8_t* bits = n.mask == nullptr ? nullptr : n.mask + r * p.mask_row_step;
    for (std::int64_t i = 0; i < length; ++i) {
      G y = fma(G::load(x) - mean, scale, shift);
      if constexpr (kAdds) y = y + G::load(add);
      if constexpr (kRelu) y = relu_of(y, relu, bits);
      if (streams)
        y.stream(to);
      else
        y.store(to);
      x += step;
      to += step;
      if constexpr (kAdds) add += step;
      if (kRelu && bits != nullptr) bits += mask_step;
    }
    if (p.rest == 0) continue;
    G y = fma(G::load_first(x, p.rest) - mean, scale, shift);
    if constexpr (kAdds) y = y + G::load_first(add, p.rest);
    if constexpr (kRelu) y = relu_of(y, relu, bits);
    y.store_first(to, p.rest);
  }
  if (streams) hwy::FlushStream();
}

template <int N>
void normalize(const Part& p, const Normalization& n) {
  if (n.add != nullptr)
    n.relu == NormRelu::kNone ? normalize_by<N, true, false>(p, n)
                              : normalize_by<N, true, true>(p, n);
  else
    n.relu == NormRelu::kNone ? normalize_by<N, false, false>(p, n)
                              : normalize_by<N, false, true>(p, n);
}

template <int N, bool kSecond, bool kMask>
void head_sums_by(const Part& p, const Heads& h, const float* x, const Parameters& around,
                  float* sums, float* products) {
  using G = Group<N>;
  const G mean = G::load(around.at);
  const std::int64_t mask_step = p.step / 8;
  G s[2] = {G::zero(), G::zero()}, q[2] = {G::zero(), G::zero()};
  for (std::int64_t r = 0; r < p.rows; ++r) {
    const std::int64_t row = r * p.row_step;
    const std::uint8_t* bits = kMask ? h.mask + r * p.mask_row_step : nullptr;
    const auto add = [&](std::int64_t i, int j) HWY_ATTR {
      const std::int64_t at = row + i * p.step;
      G dz = G::load(h.first + at);
      if constexpr (kSecond) dz = dz + G::load(h.second + at);
      if constexpr (kMask) dz = masked(dz, bits + i * mask_step);
      if (h.total != nullptr) dz.store(h.total + at);
      s[j] = s[j] + dz;
      q[j] = fma(dz, G::load(x + at) - mean, q[j]);
    };
    std::int64_t i = 0;
    for (; i + 2 <= p.length; i += 2) {
      add(i, 0);
      add(i + 1, 1);
    }
    if (i < p.length) add(i++, 0);
    if (p.rest == 0) continue;
    const std::int64_t at = row + i * p.step;
    G dz = G::load_first(h.first + at, p.rest);
    if constexpr (kSecond) dz = dz + G::load_first(h.second + at, p.rest);
    if constexpr (kMask) dz = masked(dz, bits + i * mask_step);
    if (h.total != nullptr) dz.store_first(h.total + at, p.rest);
    s[1] = s[1] + dz;
    q[1] = fma(dz, first_of(G::load_first(x + at, p.rest) - mean, p.rest), q[1]);
  }
  (s[0] + s[1]).store(sums);
  (q[0] + q[1]).store(products);
}

template <int N>
void head_sums(const Part& p, const Heads& h, const float* x, const Parameters& mean, float* sums,
               float* products) {
  if (h.second != nullptr)
    h.mask != nullptr ? head_sums_by<N, true, true>(p, h, x, mean, sums, products)
                      : head_sums_by<N, true, false>(p, h, x, mean, sums, products);
  else
    h.mask != nullptr ? head_sums_by<N, false, true>(p, h, x, mean, sums, products)
                      : head_sums_by<N, false, false>(p, h, x, mean, sums, products);
}

template <int N, bool kCenters, bool kMask>
void gradient_by(const Part& p, const Gradient& g) {
  using G = Group<N>;
  const G mean = G::load(g.mean.at), a = G::load(g.a.at), b = G::load(g.b.at),
          scale = G::load(g.scale.at);
  const std::int64_t mask_step = p.step / 8;
  for (std::int64_t r = 0; r < p.rows; ++r) {
    const std::int64_t row = r * p.row_step;
    const std::uint8_t* bits = kMask ? g.mask + r * p.mask_row_step : nullptr;
    for (std::int64_t i = 0; i < p.length; ++i) {
      const std::int64_t at = row + i * p.step;
      G dz = G::load(g.dz + at);
      if constexpr (kMask) dz = masked(dz, bits + i * mask_step);
      if constexpr (kCenters) dz = minus_product(dz - a, G::load(g.x + at) - mean, b);
      dz = dz * scale;
      if (g.stream)
        dz.stream(g.dx + at);
      else
        dz.store(g.dx + at);
    }
    if (p.rest == 0) continue;
    const std::int64_t at = row + p.length * p.step;
    G dz = G::load_first(g.dz + at, p.rest);
    if constexpr (kMask) dz = masked(dz, bits + p.length * mask_step);
    if constexpr (kCenters) dz = minus_product(dz - a, G::load_first(g.x + at, p.rest) - mean, b);
    (dz * scale).store_first(g.dx + at, p.rest);
  }
  if (g.stream) hwy::FlushStream();
}

template <int N>
void gradient(const Part& p, const Gradient& g) {
  if (g.x != nullptr)
    g.mask != nullptr ? gradient_by<N, true, true>(p, g) : gradient_by<N, true, false>(p, g);
  else
    g.mask != nullptr ? gradient_by<N, false, true>(p, g) : gradient_by<N, false, false>(p, g);
}

template <int N>
constexpr Loops kLoops = {sum<N>, squares<N>, normalize<N>, head_sums<N>, gradient<N>};
constexpr Table kTable = {kLoops<8>, kLoops<16>};

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace symbind::batch_norm
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace symbind::batch_norm {

const ByIsa<Table>& loops() {
  static constexpr ByIsa<Table> kTables = SYMBIND_BY_ISA(kTable);
  return kTables;
}

}  // namespace symbind::batch_norm
#endif
