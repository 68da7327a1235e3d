// What a batch normalisation computes, for every kernel of it.
#pragma once

#include <symbind/epilogue.h>

#include <cmath>
#include <cstdint>
#include <optional>

namespace symbind {

/// The relu after it: of Activation, which makes a NaN 0, or the operator relu, which keeps it.
enum class NormRelu : std::uint8_t { kNone, kNanIsZero, kKeepsNan };

struct BatchNormSizes {
  double eps = 1e-3;
  float momentum = 0.9f;
  bool fix_gamma = true;
  bool global_stats = false;
  bool sum = false;  ///< another tensor is added to the normalised one, before the relu
  NormRelu relu = NormRelu::kNone;
};

/// The epilogues that batch normalisation has: sum, relu, or both in this order.
struct NormEpilogue {
  bool sum = false;
  NormRelu relu = NormRelu::kNone;
};
inline std::optional<NormEpilogue> norm_epilogue(const Epilogue& items) {
  using Kind = EpilogueItem::Kind;
  NormEpilogue result;
  for (const EpilogueItem& item : items) {
    const bool clips = item.kind == Kind::kClip && item.a == 0 && std::isinf(item.b) && item.b > 0;
    if (result.relu != NormRelu::kNone) return std::nullopt;
    if (item.kind == Kind::kSum && !result.sum)
      result.sum = true;
    else if (item.kind == Kind::kRelu || clips)
      result.relu = clips ? NormRelu::kKeepsNan : NormRelu::kNanIsZero;
    else
      return std::nullopt;
  }
  return result;
}

}  // namespace symbind
