#pragma once
// Gradients in fewer bytes, for stores that send them to another device or machine.
//
// 2bit has MXNet's bits: 16 values per 32-bit word, in order of memory from the high bits of each
// byte to the low ones; 11 is +threshold, 10 is -threshold, 00 is 0. What a value loses stays in
// the sender's residual and is added to the next gradient. fp16 and bf16 round to nearest even and
// keep no residual. Sums are always taken in float32, in the order of the senders.

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include <symbind/attr_dict.h>
#include <symbind/detail/state_value.h>

namespace symbind {

class GradientCompression {
 public:
  /// {{"type", "2bit"}, {"threshold", "0.5"}}; "fp16" and "bf16" have no threshold.
  explicit GradientCompression(const AttrDict& params);

  /// The parameters with defaults filled in, for another process, which reads them with from_text.
  std::string text() const;
  static GradientCompression from_text(const std::string& text);
  bool has_residual() const { return type_ == Type::kTwoBit; }
  /// The type of the numbers that fp16 and bf16 send.
  DType dtype() const { return type_ == Type::kFloat16 ? DType::kFloat16 : DType::kBFloat16; }
  /// kType unless it is float32, the only type that can be compressed.
  static void check_dtype(const Key& key, DType dtype);

  /// The values of one word. The words of a whole array are those of its parts one after the other
  /// if every part but the last has a multiple of this many values.
  std::int64_t values_per_word() const { return type_ == Type::kTwoBit ? 16 : 1; }
  /// The bytes of `values` values.
  std::int64_t compressed_bytes(std::int64_t values) const;

  /// Encodes a gradient. `residual` has its size, or is empty without has_residual(); `out` has
  /// compressed_bytes().
  void compress(std::span<const float> gradient, std::span<float> residual,
                std::span<std::byte> out) const;
  /// out = what `in` encodes. Any bytes are valid; those of fp16 and bf16 begin at an even address.
  void decompress(std::span<const std::byte> in, std::span<float> out) const;
  /// out = in[0] + in[1] + …, decoded and added in this order, in one pass.
  void sum(const std::vector<std::span<const std::byte>>& in, std::span<float> out) const;

 private:
  enum class Type { kTwoBit, kFloat16, kBFloat16 };

  Type type_;
  float threshold_ = 0.5F;
  std::array<std::array<float, 4>, 256> decoded_ = {};  ///< 2bit: the four values of each byte
};

/// What 2bit has not sent yet, of every key at every sender of this process.
class Residuals {
 public:
  /// All 0 at first. kShape if the key had another number of values before.
  std::span<float> of(const Key& key, std::size_t sender, std::int64_t values);
  /// For checkpoints: a copy; kNone if there are none.
  StateValue state() const;
  void set_state(const StateValue& state);

 private:
  std::map<Key, std::vector<NDArray>> by_key_;
};

}  // namespace symbind
