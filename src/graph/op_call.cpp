#include <symbind/detail/op_call.h>

namespace symbind {
namespace {

// The usual attribute text: that of a field with this value.
template <class T>
void put(AttrDict& attrs, const char* name, const std::optional<T>& given) {
  if (!given) return;
  T value = *given;
  AttrField field;
  field.slot = &value;
  attrs.insert_or_assign(name, attr_text(field));
}

}  // namespace

OptionWriter& OptionWriter::operator()(const char* name, const std::optional<bool>& value) {
  return put(attrs_, name, value), *this;
}
OptionWriter& OptionWriter::operator()(const char* name, const std::optional<int>& value) {
  return put(attrs_, name, value), *this;
}
OptionWriter& OptionWriter::operator()(const char* name, const std::optional<std::int64_t>& value) {
  return put(attrs_, name, value), *this;
}
OptionWriter& OptionWriter::operator()(const char* name, const std::optional<double>& value) {
  return put(attrs_, name, value), *this;
}
OptionWriter& OptionWriter::operator()(const char* name, const std::optional<std::string>& value) {
  return put(attrs_, name, value), *this;
}
OptionWriter& OptionWriter::operator()(const char* name, const std::optional<DType>& value) {
  return put(attrs_, name, value), *this;
}
OptionWriter& OptionWriter::operator()(const char* name, const TupleOption& value) {
  return put(attrs_, name, value.value()), *this;
}
OptionWriter& OptionWriter::operator()(const char* name, const FloatTupleOption& value) {
  return put(attrs_, name, value.value()), *this;
}

Symbol call_op(const char* op, const std::string& name, const std::vector<Symbol>& inputs,
               const AttrDict& attrs) {
  return make_symbol(op, name, inputs, attrs);
}

Symbol call_op_named(const char* op, const std::string& name, NamedSymbols inputs,
                     const AttrDict& attrs) {
  std::erase_if(inputs, [](const auto& input) { return input.second.num_outputs() == 0; });
  return make_symbol(op, name, inputs, attrs);
}

}  // namespace symbind
