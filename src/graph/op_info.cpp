// The lists of inputs and outputs may depend on attributes. The operator does not say on which, so
// each is tried: flags toggled, choices selected, small counts raised.

#include <symbind/detail/op_info.h>

#include <algorithm>

#include "graph/core_ops.h"

namespace symbind {
namespace {

using Attrs = std::shared_ptr<void>;

// Changes one attribute at a time and calls `look`; a change that `look` accepts is kept.
template <class Look>
void vary(const OpDef& op, Look look) {
  const Attrs attrs = op.make_attrs();
  look(attrs.get());
  std::vector<AttrField> fields = op.describe(attrs.get());
  const auto attempt = [&](auto& slot, const auto& value) {
    const auto before = slot;
    slot = value;
    if (!look(attrs.get())) slot = before;
  };
  for (AttrField& field : fields) {
    if (bool** flag = std::get_if<bool*>(&field.slot)) attempt(**flag, !**flag);
    if (auto** flag = std::get_if<std::optional<bool>*>(&field.slot))
      attempt(**flag, std::optional<bool>(!(**flag).value_or(false)));
    if (int** count = std::get_if<int*>(&field.slot); count && **count <= 1) attempt(**count, 2);
    if (std::string** text = std::get_if<std::string*>(&field.slot))
      for (const std::string& choice : field.allowed) attempt(**text, choice);
  }
}

}  // namespace

bool is_public(const OpDef& op) {
  return !op.is_backward &&
         std::ranges::find(core_ops::kInternal, op.name) == std::end(core_ops::kInternal);
}

std::vector<std::string> most_input_names(const OpDef& op) {
  std::vector<std::string> most;
  if (!op.variadic_key.empty()) return most;
  vary(op, [&](const void* attrs) {
    std::vector<std::string> names = op.input_names(attrs);
    if (names.size() <= most.size()) return false;
    most = std::move(names);
    return true;
  });
  return most;
}

std::pair<int, int> visible_outputs(const OpDef& op) {
  constexpr int kAny = 1 << 30;
  if (op.take_rest) return {1, kAny};  // users decide
  int fewest = kAny, most = 0;
  vary(op, [&](const void* attrs) {
    const int count = op.num_visible(attrs);
    fewest = std::min(fewest, count);
    const bool better = count > most;
    most = std::max(most, count);
    return better;
  });
  return {fewest, most};
}

}  // namespace symbind
