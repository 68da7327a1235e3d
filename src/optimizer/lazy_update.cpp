// The lazy update of MXNet's row_sparse gradients, for every optimizer whose update is elementwise:
// the rows that have a gradient are gathered, updated as a smaller weight, and put back.
#include <algorithm>

#include <symbind/executor.h>

#include "base/check.h"
#include "optimizer/builtin.h"

namespace symbind {
namespace {

std::vector<std::int64_t> rows_with_gradient(const NDArray& grad) {
  const std::int64_t rows = grad.shape()[0], width = grad.size() / std::max<std::int64_t>(rows, 1);
  const std::vector<double> values = grad.to_vector<double>();
  std::vector<std::int64_t> found;
  for (std::int64_t r = 0; r < rows; ++r) {
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(r * width);
    if (std::any_of(begin, begin + static_cast<std::ptrdiff_t>(width),
                    [](double v) { return v != 0; }))
      found.push_back(r);
  }
  return found;
}

NDArray gathered(const NDArray& array, const NDArray& rows) {
  return invoke("take", {array, rows}, {{"axis", "0"}}).front();
}

OptimizerState gathered(const OptimizerState& state, const NDArray& rows) {
  if (state.empty()) return {};
  if (state.is_array()) return {gathered(state.array(), rows)};
  std::vector<OptimizerState> parts;
  for (const OptimizerState& part : state.parts()) parts.push_back(gathered(part, rows));
  return OptimizerState(std::move(parts), state.is_list());
}

void put_back(const NDArray& from, const NDArray& into, const std::vector<std::int64_t>& rows) {
  for (std::size_t i = 0; i < rows.size(); ++i)
    into.at(rows[i]).set(from.at(static_cast<std::int64_t>(i)));
}

void put_back(const OptimizerState& from, const OptimizerState& into,
              const std::vector<std::int64_t>& rows) {
  if (from.empty()) return;
  if (from.is_array()) return put_back(from.array(), into.array(), rows);
  for (std::size_t i = 0; i < from.parts().size(); ++i) put_back(from.part(i), into.part(i), rows);
}

}  // namespace

void Optimizer::update_lazily(const Key& key, const NDArray& weight, const NDArray& grad,
                              const OptimizerState& state) {
  check(weight.shape() == grad.shape(), ErrorKind::kShape,
        "{}: the gradient of {} has shape {}, its weight {}", class_name(), key_text(key),
        grad.shape().str(), weight.shape().str());
  const std::vector<std::int64_t> rows = rows_with_gradient(grad);
  if (static_cast<std::int64_t>(rows.size()) == weight.shape()[0])
    return update_multi_precision(key, weight, grad, state);
  if (rows.empty()) return step_count(key);
  const Shape count{static_cast<std::int64_t>(rows.size())};
  const NDArray places = NDArray::from_vector(rows, count, weight.context());
  const NDArray w = gathered(weight, places);
  const OptimizerState s = gathered(state, places);
  update_multi_precision(key, w, gathered(grad, places), s);
  put_back(w, weight, rows);
  put_back(s, state, rows);
}

}  // namespace symbind
