#pragma once
// Operator attributes as plain structs that describe themselves.
//
// `describe(AttrVisitor&)` names every field once; parsing, JSON, Python keywords, the generated
// C++ header and the manual are all generated from that list. The order of the fields is API:
// MXNet's scripts pass parameters by position.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <symbind/attr_dict.h>
#include <symbind/dtype.h>

namespace symbind {

/// A tuple-valued attribute such as kernel=(3, 3). A single number reads as a tuple of one.
using Tuple = std::vector<std::int64_t>;
using FloatTuple = std::vector<double>;

using AttrSlot =
    std::variant<bool*, int*, std::int64_t*, float*, double*, std::string*, Tuple*, FloatTuple*,
                 DType*, std::optional<bool>*, std::optional<int>*, std::optional<std::int64_t>*,
                 std::optional<float>*, std::optional<double>*, std::optional<std::string>*,
                 std::optional<Tuple>*, std::optional<DType>*>;

/// One field of an attribute struct, bound to the instance that was described.
struct AttrField {
  std::string name;
  AttrSlot slot;
  std::string doc;
  bool is_required = false;
  bool is_per_call = false;
  std::vector<std::string> allowed = {};
  std::optional<double> lowest = {}, highest = {};

  AttrField& required() {
    is_required = true;
    return *this;
  }
  /// Read at run time and not part of a kernel's identity (lr, a scalar operand). For a tuple (lrs)
  /// the length is part of it.
  AttrField& per_call() {
    is_per_call = true;
    return *this;
  }
  AttrField& choices(std::vector<std::string> names) {
    allowed = std::move(names);
    return *this;
  }
  AttrField& at_least(double low) {
    lowest = low;
    return *this;
  }
  AttrField& at_most(double high) {
    highest = high;
    return *this;
  }
};

class AttrVisitor {
 public:
  template <class T>
  AttrField& field(std::string name, T& value, std::string doc) {
    AttrField& added = fields_.emplace_back();
    added.name = std::move(name);
    added.slot = &value;
    added.doc = std::move(doc);
    return added;
  }
  std::vector<AttrField>& fields() { return fields_; }

 private:
  std::vector<AttrField> fields_;
};

/// No attributes.
struct NoAttrs {
  void describe(AttrVisitor&) {}
};

/// Fills the described fields from text. `owner` ("FullyConnected 'fc1'") opens every message.
/// Unknown names, missing required fields and values out of range throw with the nearest names;
/// names of the form __x__ and those in `ignored` are skipped. With `rest`, unknown names are
/// stored there instead of raising an error.
void parse_attrs(std::vector<AttrField>& fields, const AttrDict& given, std::string_view owner,
                 const std::vector<std::string>& ignored = {}, AttrDict* rest = nullptr);
/// The value as MXNet writes it: "(3, 3)", "True", "None", "0.1".
std::string attr_text(const AttrField& field);
/// MXNet's type text: "int, required", "{'relu', 'tanh'}, required", "boolean, optional,
/// default=0".
std::string attr_type_text(const AttrField& field);
/// Every field as text; per-call fields are omitted on request (the others identify a kernel).
AttrDict attrs_to_dict(const std::vector<AttrField>& fields, bool with_per_call = true);
/// The per-call fields as numbers, in order; the members of tuples one by one.
std::vector<double> per_call_values(const std::vector<AttrField>& fields);

/// "(3, 3)", "[1 2]", "3", "(8L, 0L)", "None" (→ nullopt); throws kValue.
std::optional<Tuple> parse_tuple(std::string_view text);
std::string tuple_text(const Tuple& tuple);

}  // namespace symbind
