// OptimizerState: what an optimizer keeps for one weight, and its words for messages.
#include <symbind/optimizer.h>

#include "base/check.h"

namespace symbind {

const NDArray& OptimizerState::array() const {
  const auto* array = std::get_if<NDArray>(&value_);
  check(array != nullptr, ErrorKind::kState,
        "the optimizer needs an array as its state here and has {}", form());
  return *array;
}

const std::vector<OptimizerState>& OptimizerState::parts() const {
  const auto* parts = std::get_if<std::vector<OptimizerState>>(&value_);
  check(parts != nullptr, ErrorKind::kState,
        "the optimizer needs a tuple as its state here and has {}", form());
  return *parts;
}

const NDArray& OptimizerState::array(std::size_t i) const {
  check(i < parts().size(), ErrorKind::kState,
        "the optimizer needs {} arrays as its state here and has {}", i + 1, form());
  return parts()[i].array();
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
