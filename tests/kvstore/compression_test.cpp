// Gradient compression: MXNet's bits and sums, half precision, residuals, and wrong parameters.

#include "kvstore/compression.h"

#include <cmath>
#include <cstring>
#include <limits>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <symbind/error.h>
#include <symbind/kvstore.h>

#include "tests/support/formula.h"
#include "tests/support/golden.h"
#include "tests/support/shares.h"

namespace symbind {
namespace {

using Bytes = std::vector<std::byte>;
using Floats = std::vector<float>;
using testing::ElementsAre;
using testing::HasSubstr;

GradientCompression of_type(const char* type) {
  return GradientCompression(AttrDict{{"type", type}});
}

const GradientCompression& two_bit() {
  static const GradientCompression compression({{"type", "2bit"}, {"threshold", "0.5"}});
  return compression;
}

Floats formula_floats(std::size_t n, std::uint64_t seed, double lo = -1, double hi = 1) {
  Floats values(n);
  for (std::size_t i = 0; i < n; ++i)
    values[i] = static_cast<float>(formula::value(seed, i, lo, hi));
  return values;
}

Bytes compressed(const GradientCompression& compression, const Floats& gradient,
                 std::span<float> residual = {}) {
  Bytes out(static_cast<std::size_t>(
      compression.compressed_bytes(static_cast<std::int64_t>(gradient.size()))));
  compression.compress(gradient, residual, out);
  return out;
}

template <class T>
std::vector<T> words_of(const Bytes& bytes) {
  std::vector<T> words(bytes.size() / sizeof(T));
  std::memcpy(words.data(), bytes.data(), bytes.size());
  return words;
}

// The definition, value by value: the first of four values has the two highest bits of a byte.
struct Expected {
  Bytes bytes;
  Floats decoded;
  Floats residual;
};
Expected expected_2bit(const Floats& gradient, const Floats& residual, float threshold) {
  Expected e{.bytes = Bytes((gradient.size() + 15) / 16 * 4), .decoded = {}, .residual = {}};
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    float left = residual[i] + gradient[i], sent = 0;
    unsigned code = 0b00;
    if (left >= threshold) {
      code = 0b11;
      sent = threshold;
      left = left - threshold;
    } else if (left <= -threshold) {
      code = 0b10;
      sent = -threshold;
      left = left + threshold;
    }
    e.bytes[i / 4] |= std::byte(code << (6 - 2 * (i % 4)));
    e.decoded.push_back(sent);
    e.residual.push_back(left);
  }
  return e;
}

std::string error_of(ErrorKind kind, const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), kind) << e.what();
    return e.what();
  }
  return "no error";
}

TEST(Compression, sizes) {
  EXPECT_EQ(two_bit().compressed_bytes(0), 0);
  EXPECT_EQ(two_bit().compressed_bytes(1), 4);
  EXPECT_EQ(two_bit().compressed_bytes(16), 4);
  EXPECT_EQ(two_bit().compressed_bytes(17), 8);
  EXPECT_EQ(two_bit().compressed_bytes(std::int64_t{1} << 40), std::int64_t{1} << 38);
  const GradientCompression half = of_type("fp16"), brain = of_type("bf16");
  EXPECT_EQ(half.compressed_bytes(17), 34);
  EXPECT_EQ(brain.compressed_bytes(17), 34);
  EXPECT_EQ(two_bit().text(), "2bit, threshold 0.5");
  EXPECT_EQ(of_type("2bit").text(), "2bit, threshold 0.5");
  EXPECT_EQ(GradientCompression({{"type", "2bit"}, {"threshold", "1e-3"}}).text(),
            "2bit, threshold 0.001");
  EXPECT_EQ(half.text(), "fp16");
  EXPECT_EQ(brain.text(), "bf16");
}

TEST(Compression, words_of_2bit_have_16_values_from_high_bits_to_low) {
  Floats gradient(18, 0.0F);
  gradient[0] = 1;       // byte 0: 11 00 10 00
  gradient[2] = -1;      //
  gradient[5] = 0.5F;    // byte 1: 00 11 00 00; the threshold itself counts
  gradient[11] = -0.5F;  // byte 2: 00 00 00 10
  gradient[15] = 0.49F;  // byte 3: 0
  gradient[17] = 7;      // byte 4: 00 11 00 00
  Floats residual(18, 0.0F);
  const Bytes bytes = compressed(two_bit(), gradient, residual);
  EXPECT_THAT(words_of<std::uint8_t>(bytes), ElementsAre(0xc8, 0x30, 0x02, 0, 0x30, 0, 0, 0));
  EXPECT_EQ(residual[0], 0.5F);
  EXPECT_EQ(residual[2], -0.5F);
  EXPECT_EQ(residual[5], 0);
  EXPECT_EQ(residual[15], 0.49F);
  EXPECT_EQ(residual[17], 6.5F);
  Floats out(18, 9.0F);
  two_bit().decompress(bytes, out);
  Floats want(18, 0.0F);
  want[0] = want[5] = want[17] = 0.5F;
  want[2] = want[11] = -0.5F;
  EXPECT_EQ(out, want);
}

TEST(Compression, unused_codes_decode_to_zero) {
  const Bytes bytes = {std::byte{0b01'11'10'00}, std::byte{0b01'01'01'01}, {}, {}};
  Floats out(16);
  two_bit().decompress(bytes, out);
  EXPECT_EQ(out, (Floats{0, 0.5F, -0.5F, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
}

TEST(Compression, what_was_not_sent_is_added_to_the_next_gradient) {
  for (const std::size_t n : {1u, 15u, 16u, 17u, 63u, 1000u, 70'001u}) {
    const float threshold = 0.3F;
    const GradientCompression compression({{"type", "2bit"}, {"threshold", "0.3"}});
    Floats residual(n, 0.0F), want_residual(n, 0.0F), out(n);
    for (std::uint64_t step = 0; step < 4; ++step) {
      const Floats gradient = formula_floats(n, 7 * n + step);
      const Expected want = expected_2bit(gradient, want_residual, threshold);
      want_residual = want.residual;
      const Bytes bytes = compressed(compression, gradient, residual);
      EXPECT_EQ(bytes, want.bytes) << n << " values, step " << step;
      EXPECT_EQ(residual, want.residual) << n << " values, step " << step;
      compression.decompress(bytes, out);
      EXPECT_EQ(out, want.decoded) << n << " values, step " << step;
    }
  }
}

TEST(Compression, a_nan_is_never_sent_and_stays_in_the_residual) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  const Floats gradient = {std::nanf(""), kInf, -kInf};
  Floats residual(3, 0.0F);
  const Bytes bytes = compressed(two_bit(), gradient, residual);
  EXPECT_THAT(words_of<std::uint8_t>(bytes), ElementsAre(0b00'11'10'00, 0, 0, 0));
  EXPECT_TRUE(std::isnan(residual[0]));
  EXPECT_EQ(residual[1], kInf);
  EXPECT_EQ(residual[2], -kInf);
}

TEST(Compression, parts_at_multiples_of_a_word_give_the_words_of_the_whole) {
  for (const char* type : {"2bit", "fp16", "bf16"}) {
    const GradientCompression compression = of_type(type);
    const Floats gradient = formula_floats(1003, 5);
    const std::size_t kept = compression.has_residual() ? gradient.size() : 0;
    Floats residual(kept, 0.25F), of_parts(kept, 0.25F);
    const Bytes whole = compressed(compression, gradient, residual);
    Bytes parts;
    const std::size_t cuts[] = {0, 16, 16 * 33, gradient.size()};
    for (std::size_t i = 0; i < 3; ++i) {
      ASSERT_EQ(cuts[i] % static_cast<std::size_t>(compression.values_per_word()), 0u);
      const Floats part(gradient.begin() + static_cast<long>(cuts[i]),
                        gradient.begin() + static_cast<long>(cuts[i + 1]));
      const std::span<float> left =
          kept == 0 ? std::span<float>() : std::span(of_parts).subspan(cuts[i], part.size());
      const Bytes bytes = compressed(compression, part, left);
      parts.insert(parts.end(), bytes.begin(), bytes.end());
    }
    EXPECT_EQ(parts, whole) << type;
    EXPECT_EQ(of_parts, residual) << type;
  }
}

TEST(Compression, shares_of_threads_give_the_same_bits) {
  for (const char* type : {"2bit", "fp16", "bf16"}) {
    const GradientCompression compression = of_type(type);
    for (const std::size_t n : {5u, 17u, 2049u, 12'290u}) {
      const Floats gradients[] = {formula_floats(n, 1), formula_floats(n, 2)};
      const std::size_t kept = compression.has_residual() ? n : 0;
      Bytes first;
      Floats first_sum;
      for (const int threads : {1, 2, 3}) {
        const Shares shares(threads);
        Floats residual(kept, 0.0F), sum(n);
        const Bytes a = compressed(compression, gradients[0], residual);
        const Bytes b = compressed(compression, gradients[1], residual);
        compression.sum({a, b}, sum);
        if (threads == 1) {
          first = b;
          first_sum = sum;
        }
        EXPECT_EQ(b, first) << type << ", " << n << " values in " << threads << " shares";
        EXPECT_EQ(sum, first_sum) << type << ", " << n << " values in " << threads << " shares";
      }
    }
  }
}

TEST(Compression, sums_are_taken_in_order_in_float32) {
  const GradientCompression half = of_type("fp16"), brain = of_type("bf16");
  for (const GradientCompression* compression : {&half, &brain}) {
    // 2^15 + 2^-10 is 2^15 in float32 and in both halves; the order shows in the sum.
    const Floats large = {32768}, small = {0x1p-10F}, minus = {-32768};
    Floats out(1);
    const Bytes a = compressed(*compression, large), b = compressed(*compression, small),
                c = compressed(*compression, minus);
    compression->sum({a, b, c}, out);
    EXPECT_EQ(out[0], 0);
    compression->sum({a, c, b}, out);
    EXPECT_EQ(out[0], 0x1p-10F);
    // 4 + 2^-8 needs 11 bits: kept in float32, not in bfloat16.
    const Floats four = {4}, little = {0x1p-8F};
    const Bytes d = compressed(*compression, four), e = compressed(*compression, little);
    compression->sum({d, e}, out);
    EXPECT_EQ(out[0], 4 + 0x1p-8F);
  }
  Floats out(3);
  Floats none(3, 0.0F), same(3, 0.0F), third(3, 0.0F);
  const Bytes a = compressed(two_bit(), {1, -1, 1}, none);
  const Bytes b = compressed(two_bit(), {1, -1, -1}, same);
  const Bytes c = compressed(two_bit(), {1, 0, 0}, third);
  two_bit().sum({a, b, c}, out);
  EXPECT_EQ(out, (Floats{1.5F, -1, 0}));
}

TEST(Compression, halves_round_to_nearest_even) {
  const GradientCompression half = of_type("fp16"), brain = of_type("bf16");
  const Bytes h = compressed(half, {1, -2, 1 + 0x1p-11F, 1 + 3 * 0x1p-11F, 65519, 65520, 0x1p-24F});
  EXPECT_THAT(words_of<std::uint16_t>(h),
              ElementsAre(0x3c00, 0xc000, 0x3c00, 0x3c02, 0x7bff, 0x7c00, 0x0001));
  const Bytes b = compressed(brain, {1, -2, 1 + 0x1p-8F, 1 + 3 * 0x1p-8F, 3.0e38F, 0x1p-130F});
  EXPECT_THAT(words_of<std::uint16_t>(b),
              ElementsAre(0x3f80, 0xc000, 0x3f80, 0x3f82, 0x7f62, 0x0008));
  Floats out(6);
  brain.decompress(b, out);
  EXPECT_EQ(out[3], 1 + 0x1p-6F);
  EXPECT_EQ(out[5], 0x1p-130F);
}

// ---- stores

AttrDict params_2bit(double threshold) {
  return {{"type", "2bit"}, {"threshold", std::to_string(threshold)}};
}

Floats pulled(KVStore& store, std::size_t size) {
  NDArray out = NDArray::zeros({static_cast<std::int64_t>(size)});
  store.pull("w", {out});
  return out.to_vector<float>();
}

void run_recorded(const nlohmann::json& one, const char* type) {
  const auto size = one.at("size").get<std::size_t>();
  const Shape shape = {static_cast<std::int64_t>(size)};
  const auto store = create_kvstore(type);
  store->set_gradient_compression(params_2bit(one.at("threshold")));
  if (one.at("updater"))
    store->set_updater(
        [](const Key&, const NDArray& pushed, NDArray& stored) { stored += pushed; });
  store->init("w", NDArray::ones(shape));
  for (std::size_t step = 0; step < one.at("steps"); ++step) {
    if (one.contains("threshold_after") && one.at("threshold_after")[0] == step)
      store->set_gradient_compression(params_2bit(one.at("threshold_after")[1]));
    std::vector<NDArray> gradients;
    for (std::size_t d = 0; d < one.at("devices"); ++d) {
      const std::uint64_t seed = one.at("seed").get<std::uint64_t>() + 100 * step + d;
      gradients.push_back(NDArray::from_vector(
          formula_floats(size, seed, one.at("lo"), one.at("hi")), shape, cpu(static_cast<int>(d))));
    }
    Floats got;
    if (one.at("verb") == "push") {
      store->push("w", gradients);
      got = pulled(*store, size);
    } else {
      NDArray out = NDArray::zeros(shape);
      store->pushpull("w", gradients, {out});
      got = out.to_vector<float>();
    }
    EXPECT_EQ(got, one.at("pulled")[step].get<Floats>()) << "step " << step << " of " << one;
  }
}

TEST(GoldenCompression, bytes_are_those_of_mxnets_workers) {
  const nlohmann::json all = golden::read_json(golden::path_of("kvstore/compression.json"));
  const nlohmann::json& wire = all.at("wire");
  const auto size = wire.at("size").get<std::size_t>();
  const GradientCompression compression(params_2bit(wire.at("threshold")));
  Floats residual(size, 0.0F);
  ASSERT_EQ(wire.at("bytes").size(), 4u);
  for (std::size_t step = 0; step < 4; ++step) {
    const auto seed = wire.at("seed").get<std::uint64_t>() + step;
    std::string hex;
    for (const std::byte byte : compressed(compression, formula_floats(size, seed), residual))
      hex += fmt::format("{:02x}", std::to_integer<unsigned>(byte));
    EXPECT_EQ(hex, wire.at("bytes")[step].get<std::string>()) << "step " << step;
  }
}

TEST(GoldenCompression, stores_of_devices_sum_as_mxnet_does) {
  const nlohmann::json all = golden::read_json(golden::path_of("kvstore/compression.json"));
  ASSERT_GE(all.at("cases").size(), 13u);
  for (const nlohmann::json& one : all.at("cases"))
    for (const char* type : {"device", "local_allreduce_device"}) run_recorded(one, type);
}

TEST(Compression, first_and_assigned_values_are_not_compressed) {
  const auto store = create_kvstore("device");
  store->set_gradient_compression({{"type", "2bit"}});
  store->set_updater([](const Key&, const NDArray&, NDArray& stored) { stored.set(-1.0); });
  store->init("w", NDArray({0.1F, 7}, {2}));
  EXPECT_EQ(pulled(*store, 2), (Floats{0.1F, 7}));
  const NDArray value({0.2F, -3}, {2});
  store->assign("w", value);
  EXPECT_EQ(pulled(*store, 2), (Floats{0.2F, -3}));
  NDArray(value).set(5.0);
  EXPECT_EQ(pulled(*store, 2), (Floats{0.2F, -3})) << "the store has its own copy";
}

TEST(Compression, half_types_of_a_store_round_each_device) {
  const auto store = create_kvstore("device");
  store->set_gradient_compression({{"type", "bf16"}});
  store->init("w", NDArray::zeros({2}));
  // 1 + 2^-8 rounds to 1, 1 + 2^-7 is exact; the float32 sum 2 + 2^-7 is not rounded again.
  store->push("w", {NDArray({1 + 0x1p-8F, 1}, {2}), NDArray({1 + 0x1p-7F, 2}, {2}, cpu(1))});
  EXPECT_EQ(pulled(*store, 2), (Floats{2 + 0x1p-7F, 3}));
  EXPECT_EQ(store->state().kind, StateValue::Kind::kNone) << "halves keep no residual";
}

TEST(Compression, gradients_are_unchanged) {
  const auto store = create_kvstore("device");
  store->set_gradient_compression({{"type", "2bit"}});
  store->init("w", NDArray::zeros({2}));
  const NDArray gradient({0.7F, -0.1F}, {2});
  store->push("w", {gradient});
  EXPECT_EQ(gradient.to_vector<float>(), (Floats{0.7F, -0.1F}));
}

TEST(Compression, residuals_are_saved_and_restored) {
  const auto push = [](KVStore& store, float a, float b) {
    store.push("w", {NDArray({a}, {1}), NDArray({b}, {1}, cpu(1))});
    return pulled(store, 1)[0];
  };
  const auto make = [] {
    auto store = create_kvstore("device");
    store->set_gradient_compression({{"type", "2bit"}});
    store->init("w", NDArray::zeros({1}));
    return store;
  };
  const auto one = make(), other = make(), fresh = make();
  EXPECT_EQ(push(*one, 0.4F, -0.3F), 0);
  const StateValue saved = one->state();
  EXPECT_EQ(push(*one, 0.2F, -0.1F), 0.5F);
  other->set_state(saved);
  EXPECT_EQ(push(*other, 0.2F, -0.1F), 0.5F);
  EXPECT_EQ(push(*other, 0, -0.1F), -0.5F) << "the residual of the second device";
  EXPECT_EQ(push(*fresh, 0.2F, -0.1F), 0);
  EXPECT_THAT(error_of(ErrorKind::kIo,
                       [&] {
                         StateValue wrong = StateValue::dict();
                         wrong.add("w", StateValue::sequence(StateValue::Kind::kList,
                                                             {StateValue::of(std::int64_t{3})}));
                         other->set_state(wrong);
                       }),
              HasSubstr("is not an array of float32"));
}

TEST(BadInputCompression, parameters) {
  const auto text = [](const AttrDict& params) {
    return error_of(ErrorKind::kValue, [&] { check_compression_params(params); });
  };
  for (const char* type : {"2bits", "4bit"})
    EXPECT_THAT(error_of(ErrorKind::kName,
                         [&] {
                           check_compression_params({{"type", type}});
                         }),
                HasSubstr("did you mean '2bit'? choices: 2bit, fp16, bf16"));
  EXPECT_THAT(text({{"type", "fp16"}, {"threshold", "0.5"}}), HasSubstr("fp16 has no threshold"));
  for (const char* bad : {"0", "-0.5", "nan", "inf"})
    EXPECT_THAT(text({{"type", "2bit"}, {"threshold", bad}}), HasSubstr("threshold")) << bad;
  EXPECT_THAT(text({{"type", "2bit"}, {"threshold", "much"}}), HasSubstr("much"));
  EXPECT_THAT(error_of(ErrorKind::kName,
                       [] {
                         check_compression_params({{"type", "2bit"}, {"treshold", "1"}});
                       }),
              HasSubstr("'threshold'"));
  EXPECT_THAT(error_of(ErrorKind::kValue,
                       [] {
                         check_compression_params({{"threshold", "1"}});
                       }),
              HasSubstr("type"));
}

TEST(BadInputCompression, stores_and_gradients) {
  for (const char* type : {"local", "local_allreduce_cpu", "local_update_cpu"}) {
    const auto store = create_kvstore(type);
    EXPECT_THAT(error_of(ErrorKind::kNotImplemented,
                         [&] {
                           store->set_gradient_compression({{"type", "2bit"}});
                         }),
                testing::AllOf(HasSubstr(type), HasSubstr("'local_allreduce_device'")));
  }
  const auto store = create_kvstore("device");
  store->set_gradient_compression({{"type", "2bit"}});
  store->init("h", NDArray::ones({2}, cpu(), DType::kFloat16));
  EXPECT_THAT(error_of(ErrorKind::kType,
                       [&] { store->push("h", {NDArray::ones({2}, cpu(), DType::kFloat16)}); }),
              HasSubstr("key h has gradients of type float16; only float32"));
  store->init("w", NDArray::ones({2}));
  store->push("w", {NDArray::ones({2})});
  EXPECT_THAT(error_of(ErrorKind::kShape, [&] { store->push("w", {NDArray::ones({3})}); }),
              HasSubstr("pushed with 2 values and now with 3"));
  EXPECT_EQ(pulled(*store, 2), (Floats{0.5F, 0.5F})) << "the stored value is unchanged";
  EXPECT_THAT(error_of(ErrorKind::kShape,
                       [&] {
                         store->push("w", {NDArray::ones({2}), NDArray::ones({3}, cpu(1))});
                       }),
              HasSubstr("(3,) and (2,)"));
}

}  // namespace
}  // namespace symbind
