// OptimizerState: what an optimizer keeps for one weight, and its description for messages.
#include <symbind/optimizer.h>

#include "base/check.h"

namespace symbind {

// The text is made only when it is needed: form() itself reads the parts.

const NDArray& OptimizerState::array() const {
  const auto* array = std::get_if<NDArray>(&value_);
  if (array == nullptr)
    fail(ErrorKind::kState, "the optimizer needs an array as its state here and has {}", form());
  return *array;
}

const std::vector<OptimizerState>& OptimizerState::parts() const {
  const auto* parts = std::get_if<std::vector<OptimizerState>>(&value_);
  if (parts == nullptr)
    fail(ErrorKind::kState, "the optimizer needs a tuple as its state here and has {}", form());
  return *parts;
}

const OptimizerState& OptimizerState::part(std::size_t i) const {
  if (i >= parts().size())
    fail(ErrorKind::kState, "the optimizer needs {} parts in its state here and has {}", i + 1,
         form());
  return parts()[i];
}

void OptimizerState::append_arrays(std::vector<NDArray>& to) const {
  if (is_array()) to.push_back(array());
  if (!is_sequence()) return;
  for (const OptimizerState& part : parts()) part.append_arrays(to);
}

OptimizerState OptimizerState::as_in_context(Context context) const {
  if (is_array()) return {array().as_in_context(context)};
  if (empty()) return {};
  std::vector<OptimizerState> moved;
  for (const OptimizerState& part : parts()) moved.push_back(part.as_in_context(context));
  return OptimizerState(std::move(moved), list_);
}

std::string OptimizerState::form() const {
  if (empty()) return "nothing";
  if (is_array()) return "an array";
  std::string text = "(";
  for (const OptimizerState& part : parts()) text += (text.size() > 1 ? ", " : "") + part.form();
  return text + ")";
}

}  // namespace symbind
