// The loops read and write each value once, so that memory speed limits them. 2bit is decoded
// through a table of the four values of each byte, which stays in the first-level cache.

#include "kvstore/compression.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <optional>

#include <fmt/format.h>

#include <symbind/attributes.h>

#include "base/check.h"
#include "base/half.h"
#include "base/parallel.h"
#include "kernels/accumulate.h"
#include "kernels/vector/convert.h"
#include "ndarray/access.h"

namespace symbind {
namespace {

struct Params {
  std::string type;
  std::optional<float> threshold;
  void describe(AttrVisitor& v) {
    v.field("type", type, "How values are encoded.").required().choices({"2bit", "fp16", "bf16"});
    v.field("threshold", threshold, "2bit: the magnitude of every value that is not 0.");
  }
};

constexpr std::int64_t kWord = 16;     // values in a word of 2bit
constexpr std::int64_t kPiece = 1024;  // values that stay in the first-level cache between loops

using Decoded = std::array<std::array<float, 4>, 256>;
using Inputs = std::vector<std::span<const std::byte>>;

// Bits of masks instead of branches: this loop is vectorised.
void encode_values(const float* __restrict gradient, float* __restrict residual, std::int64_t n,
                   float threshold, std::uint32_t* __restrict codes) {
  const auto plus_bits = std::bit_cast<std::uint32_t>(threshold);
  const auto minus_bits = std::bit_cast<std::uint32_t>(-threshold);
  for (std::int64_t i = 0; i < n; ++i) {
    const float value = residual[i] + gradient[i];
    const std::uint32_t plus = -static_cast<std::uint32_t>(value >= threshold);
    const std::uint32_t minus = -static_cast<std::uint32_t>(value <= -threshold);
    codes[i] = (plus & 3) | (minus & 2);
    residual[i] = value - std::bit_cast<float>((plus & plus_bits) | (minus & minus_bits));
  }
}

void encode_words(std::span<const float> gradient, std::span<float> residual, float threshold,
                  std::byte* out) {
  const auto values = static_cast<std::int64_t>(gradient.size());
  const std::int64_t words = (values + kWord - 1) / kWord;
  parallel_for(words, kElementGrain / kWord, [&](std::int64_t begin, std::int64_t end) {
    std::array<std::uint32_t, kPiece> codes;
    for (std::int64_t at = begin * kWord; at < end * kWord; at += kPiece) {
      const std::int64_t padded = std::min(kPiece, end * kWord - at);
      const std::int64_t count = std::min(padded, values - at);
      encode_values(gradient.data() + at, residual.data() + at, count, threshold, codes.data());
      std::fill(codes.begin() + count, codes.begin() + padded, 0U);
      const std::uint32_t* c = codes.data();
      std::byte* to = out + at / 4;
      for (std::int64_t b = 0; b < padded / 4; ++b)
        to[b] = static_cast<std::byte>(c[4 * b] << 6 | c[4 * b + 1] << 4 | c[4 * b + 2] << 2 |
                                       c[4 * b + 3]);
    }
  });
}

// Calls first(in[0], begin, n) and next(in[k], begin, n) for pieces of [0, items).
template <class First, class Next>
void sum_pieces(const Inputs& in, std::int64_t items, std::int64_t grain, const First& first,
                const Next& next) {
  parallel_for(items, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t at = begin; at < end; at += kPiece) {
      const std::int64_t count = std::min(kPiece, end - at);
      first(in[0].data(), at, count);
      for (std::size_t k = 1; k < in.size(); ++k) next(in[k].data(), at, count);
    }
  });
}

void sum_two_bit(const Decoded& decoded, const Inputs& in, std::span<float> out) {
  const std::size_t fours = out.size() / 4;
  const auto values_of = [&](std::byte byte) {
    return decoded[std::to_integer<std::size_t>(byte)];
  };
  sum_pieces(
      in, static_cast<std::int64_t>(fours), kElementGrain / 4,
      [&](const std::byte* from, std::int64_t at, std::int64_t n) {
        for (std::int64_t b = at; b < at + n; ++b) {
          const std::array<float, 4> four = values_of(from[b]);
          std::memcpy(out.data() + 4 * b, four.data(), sizeof four);
        }
      },
      [&](const std::byte* from, std::int64_t at, std::int64_t n) {
        for (std::int64_t b = at; b < at + n; ++b) {
          const std::array<float, 4> four = values_of(from[b]);
          std::array<float, 4> sum;
          std::memcpy(sum.data(), out.data() + 4 * b, sizeof sum);
          for (std::size_t i = 0; i < 4; ++i) sum[i] += four[i];
          std::memcpy(out.data() + 4 * b, sum.data(), sizeof sum);
        }
      });
  for (std::size_t i = 4 * fours; i < out.size(); ++i) {
    out[i] = 0;
    for (const auto& one : in) out[i] += values_of(one[fours])[i - 4 * fours];
  }
}

void encode_halves(std::span<const float> gradient, std::byte* out) {
  auto* to = reinterpret_cast<std::uint16_t*>(out);
  parallel_for(static_cast<std::int64_t>(gradient.size()), kElementGrain,
               [&](std::int64_t begin, std::int64_t end) {
                 vector::conversions().best().float_to_half(gradient.data() + begin, to + begin,
                                                            end - begin);
               });
}

void sum_halves(const Inputs& in, std::span<float> out) {
  const auto bits = [](const std::byte* from, std::int64_t at) {
    return reinterpret_cast<const std::uint16_t*>(from) + at;
  };
  sum_pieces(
      in, static_cast<std::int64_t>(out.size()), kElementGrain,
      [&](const std::byte* from, std::int64_t at, std::int64_t n) {
        vector::conversions().best().half_to_float(bits(from, at), out.data() + at, n);
      },
      [&](const std::byte* from, std::int64_t at, std::int64_t n) {
        vector::conversions().best().add_half(bits(from, at), out.data() + at, n);
      });
}

void encode_bfloats(std::span<const float> gradient, std::byte* out) {
  auto* to = reinterpret_cast<BFloat16*>(out);
  parallel_for(static_cast<std::int64_t>(gradient.size()), kElementGrain,
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t i = begin; i < end; ++i)
                   to[i] = gradient[static_cast<std::size_t>(i)];
               });
}

void sum_bfloats(const Inputs& in, std::span<float> out) {
  const auto values = [](const std::byte* from, std::int64_t at) {
    return reinterpret_cast<const BFloat16*>(from) + at;
  };
  sum_pieces(
      in, static_cast<std::int64_t>(out.size()), kElementGrain,
      [&](const std::byte* from, std::int64_t at, std::int64_t n) {
        for (std::int64_t i = 0; i < n; ++i) out.data()[at + i] = values(from, at)[i];
      },
      [&](const std::byte* from, std::int64_t at, std::int64_t n) {
        for (std::int64_t i = 0; i < n; ++i) out.data()[at + i] += values(from, at)[i];
      });
}

}  // namespace

GradientCompression::GradientCompression(const AttrDict& given) {
  Params params;
  AttrVisitor visitor;
  params.describe(visitor);
  parse_attrs(visitor.fields(), given, "gradient compression");
  type_ = params.type == "2bit"   ? Type::kTwoBit
          : params.type == "fp16" ? Type::kFloat16
                                  : Type::kBFloat16;
  check(type_ == Type::kTwoBit || !params.threshold,
        "gradient compression: type {} has no threshold\n  fix:  omit threshold, or use type 2bit",
        params.type);
  threshold_ = params.threshold.value_or(threshold_);
  check(threshold_ > 0 && std::isfinite(threshold_),
        "gradient compression: threshold {} is not above 0\n  fix:  use a positive number, "
        "for example 0.5",
        threshold_);
  for (std::size_t byte = 0; byte < decoded_.size(); ++byte) {
    for (std::size_t i = 0; i < 4; ++i) {
      const std::size_t code = (byte >> (6 - 2 * i)) & 3;
      decoded_[byte][i] = code == 3 ? threshold_ : code == 2 ? -threshold_ : 0.0F;
    }
  }
}

std::string GradientCompression::text() const {
  switch (type_) {
    case Type::kFloat16: return "fp16";
    case Type::kBFloat16: return "bf16";
    case Type::kTwoBit: break;
  }
  return fmt::format("2bit, threshold {}", threshold_);
}

GradientCompression GradientCompression::from_text(const std::string& text) {
  constexpr std::string_view kBetween = ", threshold ";
  const std::size_t at = text.find(kBetween);
  if (at == text.npos) return GradientCompression({{"type", text}});
  return GradientCompression(
      {{"type", text.substr(0, at)}, {"threshold", text.substr(at + kBetween.size())}});
}

void GradientCompression::check_dtype(const Key& key, DType dtype) {
  check(dtype == DType::kFloat32, ErrorKind::kType,
        "kvstore: key {} has gradients of type {}; only float32 can be compressed\n  fix:  omit "
        "compression_params, or train in float32",
        key_text(key), dtype_name(dtype));
}

std::int64_t GradientCompression::compressed_bytes(std::int64_t values) const {
  return type_ == Type::kTwoBit ? (values + kWord - 1) / kWord * 4 : values * 2;
}

void GradientCompression::compress(std::span<const float> gradient, std::span<float> residual,
                                   std::span<std::byte> out) const {
  const auto values = static_cast<std::int64_t>(gradient.size());
  SYMBIND_ASSERT(static_cast<std::int64_t>(out.size()) == compressed_bytes(values));
  SYMBIND_ASSERT(residual.size() == (has_residual() ? gradient.size() : 0));
  switch (type_) {
    case Type::kTwoBit: return encode_words(gradient, residual, threshold_, out.data());
    case Type::kFloat16: return encode_halves(gradient, out.data());
    case Type::kBFloat16: return encode_bfloats(gradient, out.data());
  }
}

void GradientCompression::decompress(std::span<const std::byte> in, std::span<float> out) const {
  sum({in}, out);
}

void GradientCompression::sum(const std::vector<std::span<const std::byte>>& in,
                              std::span<float> out) const {
  SYMBIND_ASSERT(!in.empty());
  for (const auto& one : in)
    SYMBIND_ASSERT(static_cast<std::int64_t>(one.size()) ==
                   compressed_bytes(static_cast<std::int64_t>(out.size())));
  switch (type_) {
    case Type::kTwoBit: return sum_two_bit(decoded_, in, out);
    case Type::kFloat16: return sum_halves(in, out);
    case Type::kBFloat16: return sum_bfloats(in, out);
  }
}

std::span<float> Residuals::of(const Key& key, std::size_t sender, std::int64_t values) {
  std::vector<NDArray>& all = by_key_[key];
  while (all.size() <= sender) all.push_back(NDArray::zeros(Shape({values})));
  const NDArray& array = all[sender];
  check(array.size() == values, ErrorKind::kShape,
        "kvstore: key {} was pushed with {} values and now with {}; compression keeps a residual "
        "for each value\n  fix:  push arrays of one shape",
        key_text(key), array.size(), values);
  return {reinterpret_cast<float*>(write_pointer(array)), static_cast<std::size_t>(values)};
}

StateValue Residuals::state() const {
  if (by_key_.empty()) return StateValue::none();
  StateValue state = StateValue::dict();
  for (const auto& [key, arrays] : by_key_) {
    StateValue list = StateValue::sequence(StateValue::Kind::kList);
    for (const NDArray& array : arrays) list.items.push_back(StateValue::of(array.copy()));
    state.add(StateValue::of(key), std::move(list));
  }
  return state;
}

void Residuals::set_state(const StateValue& state) {
  using Kind = StateValue::Kind;
  std::map<Key, std::vector<NDArray>> read;
  for (std::size_t i = 0; i + 1 < state.items.size(); i += 2) {
    const StateValue& key = state.items[i];
    std::vector<NDArray>& arrays = read[key.kind == Kind::kText ? Key(key.text) : Key(key.integer)];
    for (const StateValue& item : state.items[i + 1].items) {
      check(item.kind == Kind::kArray && item.array.dtype() == DType::kFloat32, ErrorKind::kIo,
            "a residual of gradient compression is not an array of float32");
      arrays.push_back(item.array.as_in_context(cpu()).copy());
    }
  }
  by_key_ = std::move(read);
}

}  // namespace symbind
