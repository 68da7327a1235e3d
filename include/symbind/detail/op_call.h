#pragma once
// What the generated operator functions (ops.h) are made of: optional options, their conversion to
// attributes, and calls on arrays. Only given options are stored, as in MXNet.
//
// Decided here: calls on arrays are cached by the bytes of their options. A repeated call formats
// and parses nothing and allocates only its result.

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <symbind/attributes.h>
#include <symbind/ndarray.h>
#include <symbind/symbol.h>

namespace symbind {

/// A list-valued option: `.kernel = {3, 3}`, `.axis = 1`, or omitted.
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
  template <class F>
  void each(F&&) const {}
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

/// The options that were given as attributes.
template <class Options>
AttrDict dict_of(const Options& options) {
  OptionWriter writer(options.attr);
  options.each(writer);
  return writer.done();
}

/// Writes options as bytes: equal bytes, equal options.
class OptionKey {
 public:
  explicit OptionKey(std::string& key) : key_(key) {}
  template <class T>
  void operator()(const char*, const std::optional<T>& value) {
    add(value.has_value());
    if (value) add(*value);
  }
  template <class T>
  void operator()(const char*, const ListOption<T>& option) {
    const auto& list = option.value();
    add(list ? list->size() : SIZE_MAX);
    if (!list) return;
    for (const T& value : *list) add(value);
  }
  void add(const AttrDict& attrs) {
    for (const auto& [name, value] : attrs) {
      add(name);
      add(value);
    }
  }
  template <class T>
  requires std::is_trivially_copyable_v<T>
  void add(const T& value) { key_.append(reinterpret_cast<const char*>(&value), sizeof value); }
  void add(std::string_view text) {
    add(text.size());
    key_.append(text);
  }
  void add(const std::string& text) { add(std::string_view(text)); }

 private:
  std::string& key_;
};

struct OpDef;

/// The options of one call on arrays, in any representation.
struct CallOptions {
  const void* options;
  void (*append_key)(const void* options, std::string& key);
  AttrDict (*dict)(const void* options);

  template <class Options>
  static CallOptions of(const Options& options) {
    return {&options,
            [](const void* o, std::string& key) {
              OptionKey writer(key);
              static_cast<const Options*>(o)->each(writer);
              writer.add(static_cast<const Options*>(o)->attr);
            },
            [](const void* o) { return dict_of(*static_cast<const Options*>(o)); }};
  }
  static CallOptions of(const AttrDict& attrs);
};

/// As `invoke` of executor.h, with options in any representation.
std::vector<NDArray> invoke(const OpDef& op, const std::vector<NDArray>& inputs,
                            const CallOptions& options, const std::vector<NDArray>& out,
                            std::optional<bool> is_train = {});

/// An operator for calls on arrays; made once for each place in a program that calls it.
class ArrayOp {
 public:
  explicit ArrayOp(const char* name);
  /// An operator with one output. `out`, if defined, is written and returned.
  template <class Options>
  NDArray one(std::initializer_list<NDArray> inputs, const Options& options,
              const NDArray& out) const {
    return run_one({inputs.begin(), inputs.size()}, CallOptions::of(options), out);
  }
  template <class Options>
  NDArray one(const std::vector<NDArray>& inputs, const Options& options,
              const NDArray& out) const {
    return run_one(inputs, CallOptions::of(options), out);
  }
  /// One whose number of outputs the options decide.
  template <class Options>
  std::vector<NDArray> all(std::initializer_list<NDArray> inputs, const Options& options,
                           const std::vector<NDArray>& out) const {
    return run_all({inputs.begin(), inputs.size()}, CallOptions::of(options), out);
  }
  template <class Options>
  std::vector<NDArray> all(const std::vector<NDArray>& inputs, const Options& options,
                           const std::vector<NDArray>& out) const {
    return run_all(inputs, CallOptions::of(options), out);
  }

 private:
  // Undefined inputs at the end are omitted.
  NDArray run_one(std::span<const NDArray> inputs, const CallOptions& options,
                  const NDArray& out) const;
  std::vector<NDArray> run_all(std::span<const NDArray> inputs, const CallOptions& options,
                               std::span<const NDArray> out) const;
  const OpDef* op_;
};

/// make_symbol with inputs in order, or by name; empty ones are omitted.
Symbol call_op(const char* op, const std::string& name, const std::vector<Symbol>& inputs,
               const AttrDict& attrs);
Symbol call_op_named(const char* op, const std::string& name, NamedSymbols inputs,
                     const AttrDict& attrs);

}  // namespace symbind
