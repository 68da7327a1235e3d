#pragma once
// Shared by the files of this folder: fills that several initializers need, JSON texts, and the
// kinds of the table in registry.cpp.

#include <initializer_list>
#include <memory>
#include <string>
#include <utility>

#include <symbind/initializer.h>

namespace symbind {

/// The kernel of bilinear upsampling; the array has four axes.
void fill_bilinear(const std::string& name, NDArray& array);

/// Numbers drawn by a random operator, straight into `array`.
void draw_uniform(double low, double high, NDArray& array);
void draw_normal(double deviation, NDArray& array);

/// A number as Python's json writes a float: "1.0", "0.07", "1e-05".
std::string json_float(double value);
/// A number that MXNet's default writes as an integer: "3", but "2.34".
std::string json_number(double value);
std::string json_string(const std::string& text);
std::string json_bool(bool value);
/// `["name", {"key": value, …}]`, values being JSON already.
std::string json_call(const std::string& name,
                      std::initializer_list<std::pair<const char*, std::string>> params);

/// One factory per kind: parameters as text.
InitializerPtr make_zero(const AttrDict& params);
InitializerPtr make_one(const AttrDict& params);
InitializerPtr make_constant(const AttrDict& params);
InitializerPtr make_uniform(const AttrDict& params);
InitializerPtr make_normal(const AttrDict& params);
InitializerPtr make_orthogonal(const AttrDict& params);
InitializerPtr make_xavier(const AttrDict& params);
InitializerPtr make_msra_prelu(const AttrDict& params);
InitializerPtr make_bilinear(const AttrDict& params);
InitializerPtr make_lstm_bias(const AttrDict& params);
InitializerPtr make_fused_rnn(const AttrDict& params);

/// Reads the described parameters of a T from text.
template <class T>
InitializerPtr from_text(const AttrDict& params, const char* name) {
  auto made = std::make_shared<T>();
  AttrVisitor visitor;
  made->describe(visitor);
  parse_attrs(visitor.fields(), params, std::string("initializer '") + name + "'");
  return made;
}

}  // namespace symbind
