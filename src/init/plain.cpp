// Initializers without random numbers: Zero, One, Constant, Bilinear, LSTMBias.

#include <cmath>

#include <nlohmann/json.hpp>

#include "base/check.h"
#include "init/fill.h"

namespace symbind {
namespace {

struct ZeroInit : Initializer {
  void describe(AttrVisitor&) {}
  void init_weight(const InitDesc&, NDArray& array) const override { array.set(0.0); }
  std::string dumps() const override { return json_call("zero", {}); }
};

struct OneInit : Initializer {
  void describe(AttrVisitor&) {}
  void init_weight(const InitDesc&, NDArray& array) const override { array.set(1.0); }
  std::string dumps() const override { return json_call("one", {}); }
};

struct ConstantInit : Initializer {
  explicit ConstantInit(double number) : value(number) {}
  void init_weight(const InitDesc&, NDArray& array) const override { array.set(value); }
  std::string dumps() const override {
    return json_call("constant", {{"value", json_number(value)}});
  }
  double value;
};

struct ArrayInit : Initializer {
  explicit ArrayInit(NDArray numbers) : value(std::move(numbers)) {}
  void init_weight(const InitDesc&, NDArray& array) const override {
    array.set(value.as_in_context(array.context()));
  }
  std::string dumps() const override {
    std::size_t next = 0;
    return json_call("constant", {{"value", nested(value.to_vector<double>(), 0, next)}});
  }
  std::string nested(const std::vector<double>& numbers, int axis, std::size_t& next) const {
    if (axis == value.ndim()) return json_float(numbers[next++]);
    std::string text = "[";
    for (std::int64_t i = 0; i < value.shape()[axis]; ++i)
      text += (i ? ", " : "") + nested(numbers, axis + 1, next);
    return text + "]";
  }
  NDArray value;
};

struct BilinearInit : Initializer {
  void describe(AttrVisitor&) {}
  void init_weight(const InitDesc& desc, NDArray& array) const override {
    fill_bilinear(desc.name, array);
  }
  std::string dumps() const override { return json_call("bilinear", {}); }
};

struct LstmBiasInit : Initializer {
  void describe(AttrVisitor& v) {
    v.field("forget_bias", forget_bias, "The bias of the forget gate.");
  }
  void init_weight(const InitDesc& desc, NDArray& array) const override {
    check(array.ndim() > 0, "{} has no axis for the four gates of an LSTM", desc.name);
    array.set(0.0);
    const std::int64_t hidden = array.shape()[0] / 4;
    if (hidden > 0) array.slice(hidden, 2 * hidden).set(forget_bias);
  }
  std::string dumps() const override {
    return json_call("lstmbias", {{"forget_bias", json_float(forget_bias)}});
  }
  double forget_bias = 1;
};

/// Nested lists as numbers in order; the first list at a level sets `axis` of the shape.
void flatten(const nlohmann::json& from, int axis, Shape& shape, std::vector<double>& numbers) {
  if (!from.is_array()) {
    check(from.is_number() && axis == shape.rank(), "constant: the lists of 'value' are ragged");
    return numbers.push_back(from.get<double>());
  }
  const auto size = static_cast<std::int64_t>(from.size());
  if (axis == shape.rank() && numbers.empty()) shape.push_back(size);
  check(axis < shape.rank() && shape[axis] == size, "constant: the lists of 'value' are ragged");
  for (const nlohmann::json& item : from) flatten(item, axis + 1, shape, numbers);
}

}  // namespace

void fill_bilinear(const std::string& name, NDArray& array) {
  check(array.ndim() == 4, ErrorKind::kIndex,
        "bilinear upsampling needs a kernel of four axes, and {} has shape {}",
        name.empty() ? "the array" : name, array.shape().str());
  const std::int64_t rows = array.shape()[2], columns = array.shape()[3];
  const double f = std::ceil(static_cast<double>(columns) / 2);
  const double c = (2 * f - 1 - std::fmod(f, 2)) / (2 * f);
  std::vector<float> numbers(static_cast<std::size_t>(array.size()));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const auto place = static_cast<std::int64_t>(i);
    const auto x = static_cast<double>(place % columns);
    const auto y = static_cast<double>(place / columns % rows);
    numbers[i] = static_cast<float>((1 - std::abs(x / f - c)) * (1 - std::abs(y / f - c)));
  }
  array.set(NDArray::from_vector(numbers, array.shape(), array.context()));
}

InitializerPtr Zero() { return std::make_shared<ZeroInit>(); }
InitializerPtr One() { return std::make_shared<OneInit>(); }
InitializerPtr Constant(double value) { return std::make_shared<ConstantInit>(value); }
InitializerPtr Constant(const NDArray& value) { return std::make_shared<ArrayInit>(value); }
InitializerPtr Bilinear() { return std::make_shared<BilinearInit>(); }
InitializerPtr LSTMBias(double forget_bias) {
  auto made = std::make_shared<LstmBiasInit>();
  made->forget_bias = forget_bias;
  return made;
}

InitializerPtr make_zero(const AttrDict& params) { return from_text<ZeroInit>(params, "zero"); }
InitializerPtr make_one(const AttrDict& params) { return from_text<OneInit>(params, "one"); }
InitializerPtr make_bilinear(const AttrDict& params) {
  return from_text<BilinearInit>(params, "bilinear");
}
InitializerPtr make_lstm_bias(const AttrDict& params) {
  return from_text<LstmBiasInit>(params, "lstmbias");
}

InitializerPtr make_constant(const AttrDict& params) {
  struct Value {
    std::string text;
    void describe(AttrVisitor& v) { v.field("value", text, "A number or lists.").required(); }
  } value;
  AttrVisitor visitor;
  value.describe(visitor);
  parse_attrs(visitor.fields(), params, "initializer 'constant'");
  const nlohmann::json json = nlohmann::json::parse(value.text, nullptr, false);
  check(json.is_array() || json.is_number(),
        "initializer 'constant': value '{}' is neither a number nor lists of numbers", value.text);
  if (json.is_number()) return Constant(json.get<double>());
  Shape shape = {};
  std::vector<double> numbers;
  flatten(json, 0, shape, numbers);
  return Constant(NDArray::from_vector(numbers, shape, cpu()));
}

}  // namespace symbind
