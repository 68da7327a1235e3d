#include "fuzz/draw.h"

#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace symbind::fuzz {
namespace {

constexpr std::int64_t kUsualWholes[] = {0, 1, 1, 1, 2, 2, 3, 4, 5, -1};
constexpr std::int64_t kWildWholes[] = {0,
                                        -1,
                                        -2,
                                        7,
                                        100,
                                        65536,
                                        INT32_MAX,
                                        INT32_MIN,
                                        std::int64_t{1} << 31,
                                        std::int64_t{1} << 32,
                                        (std::int64_t{1} << 32) + 1,
                                        std::int64_t{1} << 62,
                                        INT64_MAX,
                                        INT64_MAX - 1,
                                        INT64_MIN,
                                        INT64_MIN + 1};
constexpr double kUsualNumbers[] = {0, 1, 0.5, 2, 0.1, 0.9, 1e-3, -1};
constexpr double kWildNumbers[] = {0,     -0.0,  NAN,   INFINITY, -INFINITY, 1e30, -1e30,
                                   1e308, 1e-40, -1e-3, 3e9,      -3e9,      1e19, 2147483647};
constexpr const char* kTexts[] = {"",     "None", "NCHW", "NHWC", "TNC",   "a",
                                  "same", "1",    "(1,)", "avg",  "float", "dim_a,dim_b"};
constexpr DType kTypes[] = {DType::kFloat32, DType::kFloat64, DType::kFloat16,  DType::kUint8,
                            DType::kInt32,   DType::kInt8,    DType::kInt64,    DType::kBool,
                            DType::kInt16,   DType::kUint16,  DType::kBFloat16, DType::kFloat32};

std::int64_t whole(Draw& draw, bool wild) {
  return wild ? draw.of(kWildWholes) : draw.of(kUsualWholes);
}

double number(Draw& draw, bool wild) {
  return wild ? draw.of(kWildNumbers) : draw.of(kUsualNumbers);
}

std::size_t tuple_length(Draw& draw, bool wild) {
  if (wild && draw.chance(0.05)) return draw.chance(0.5) ? 17 : 200;
  return draw.below(wild ? 6 : 4);
}

template <class One>
std::string tuple(Draw& draw, bool wild, const One& one) {
  std::vector<std::string> members;
  // Mostly one member is wild: with all of them wild the first check would be the only one met.
  const std::size_t length = tuple_length(draw, wild);
  const std::size_t odd = draw.below(length + 1);
  for (std::size_t i = 0; i < length; ++i)
    members.push_back(fmt::format("{}", one(draw, wild && (i == odd || draw.chance(0.2)))));
  return fmt::format("({}{})", fmt::join(members, ", "), length == 1 ? "," : "");
}

struct ValueText {
  Draw& draw;
  const AttrField& field;
  bool wild;

  std::string operator()(bool*) const { return draw.chance(0.5) ? "True" : "False"; }
  std::string operator()(int*) const { return fmt::format("{}", whole(draw, wild)); }
  std::string operator()(std::int64_t*) const { return fmt::format("{}", whole(draw, wild)); }
  std::string operator()(float*) const { return fmt::format("{}", number(draw, wild)); }
  std::string operator()(double*) const { return fmt::format("{}", number(draw, wild)); }
  std::string operator()(std::string*) const {
    if (!field.allowed.empty() && !(wild && draw.chance(0.1))) return draw.of(field.allowed);
    return draw.of(kTexts);
  }
  std::string operator()(Tuple*) const { return tuple(draw, wild, whole); }
  std::string operator()(FloatTuple*) const { return tuple(draw, wild, number); }
  std::string operator()(DType*) const { return std::string(dtype_name(draw.of(kTypes))); }
  template <class T>
  std::string operator()(std::optional<T>*) const {
    if (draw.chance(0.2)) return "None";
    return (*this)(static_cast<T*>(nullptr));
  }
};

}  // namespace

std::uint64_t Draw::next() {
  // SplitMix64: every seed gives another sequence, neighbouring ones too.
  std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

bool Draw::chance(double probability) {
  return static_cast<double>(next() >> 11) < probability * 9007199254740992.0;
}

std::string draw_value(Draw& draw, const AttrField& field, bool wild) {
  return std::visit(ValueText{draw, field, wild}, field.slot);
}

NDArray filled(const Shape& shape, DType dtype, const std::string& fill, std::uint64_t seed) {
  Draw draw(seed);
  const auto count = static_cast<std::size_t>(shape.size());
  if (fill == "zero") return NDArray::zeros(shape, cpu(), dtype);
  if (is_float(dtype)) {
    std::vector<double> values(count);
    for (double& value : values) {
      value = fill == "small" ? static_cast<double>(draw.below(6)) - 1
                              : static_cast<double>(draw.below(4001)) / 1000 - 2;
      if (fill == "wild" && draw.chance(0.3)) value = draw.of(kWildNumbers);
    }
    return NDArray::from_vector(values, shape, cpu()).astype(dtype);
  }
  std::vector<std::int64_t> values(count);
  for (std::int64_t& value : values) {
    value = static_cast<std::int64_t>(draw.below(6)) - 1;
    if (fill == "wild" && draw.chance(0.3)) value = draw.of(kWildWholes);
  }
  return NDArray::from_vector(values, shape, cpu()).astype(dtype);
}

}  // namespace symbind::fuzz
