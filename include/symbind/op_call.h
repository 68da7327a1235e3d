#pragma once
// What the generated operator functions (ops.h) are made of: options that may be left out, and the
// way from them to attributes. Only what was given is stored, as MXNet stores it.

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <symbind/attributes.h>
#include <symbind/symbol.h>

namespace symbind {

/// A list-valued option: `.kernel = {3, 3}`, `.axis = 1`, or left out.
template <class T>
class ListOption {
 public:
  ListOption() = default;
  ListOption(std::initializer_list<T> values) : values_(values) {}
  ListOption(T value) : values_(std::in_place, 1, value) {}
  ListOption(std::vector<T> values) : values_(std::move(values)) {}
  const std::optional<std::vector<T>>& value() const { return values_; }

 private:
  std::optional<std::vector<T>> values_;
};
using TupleOption = ListOption<std::int64_t>;
using FloatTupleOption = ListOption<double>;

/// Options of an operator without parameters.
struct NoOptions {
  AttrDict attr = {};  ///< user attributes: ctx_group, lr_mult, __mine__
  const AttrDict& dict() const { return attr; }
};

/// Collects the options that were given, on top of user attributes.
class OptionWriter {
 public:
  explicit OptionWriter(AttrDict attr) : attrs_(std::move(attr)) {}
  OptionWriter& operator()(const char* name, const std::optional<bool>& value);
  OptionWriter& operator()(const char* name, const std::optional<int>& value);
  OptionWriter& operator()(const char* name, const std::optional<std::int64_t>& value);
  OptionWriter& operator()(const char* name, const std::optional<double>& value);
  OptionWriter& operator()(const char* name, const std::optional<std::string>& value);
  OptionWriter& operator()(const char* name, const std::optional<DType>& value);
  OptionWriter& operator()(const char* name, const TupleOption& value);
  OptionWriter& operator()(const char* name, const FloatTupleOption& value);
  AttrDict done() { return std::move(attrs_); }

 private:
  AttrDict attrs_;
};

/// make_symbol with inputs in order, or by name where those not given (empty) are left out.
Symbol call_op(const char* op, const std::string& name, const std::vector<Symbol>& inputs,
               const AttrDict& attrs);
Symbol call_op_named(const char* op, const std::string& name, NamedSymbols inputs,
                     const AttrDict& attrs);

}  // namespace symbind
