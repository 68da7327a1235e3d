// ResizeIter: epochs of a chosen number of batches, over an iterator that has more or fewer.
#include <symbind/io.h>

#include "base/check.h"
#include "io/iter_state.h"

namespace symbind {

ResizeIter::ResizeIter(std::shared_ptr<DataIter> iter, std::int64_t size, bool reset_internal)
    : iter_(std::move(iter)), size_(size), reset_internal_(reset_internal) {
  check(iter_ != nullptr, "ResizeIter: no iterator given");
  check(size_ >= 0, "ResizeIter: size is {}; it must not be negative", size_);
}

void ResizeIter::reset() {
  given_ = 0;
  if (reset_internal_) iter_->reset();
}

void ResizeIter::hard_reset() {
  given_ = 0;
  if (reset_internal_) iter_->hard_reset();
}

bool ResizeIter::next(DataBatch& batch) {
  if (given_ >= size_) return false;
  if (!iter_->next(batch)) {
    iter_->reset();
    check(iter_->next(batch), ErrorKind::kState, "ResizeIter: the iterator has no batches at all");
  }
  ++given_;
  return true;
}

std::optional<StateValue> ResizeIter::state() {
  std::optional<StateValue> within = iter_->state();
  if (!within) return std::nullopt;
  StateValue state = iter_state("ResizeIter", {{"size", size_}});
  state.add("given", StateValue::of(given_));
  state.add("within", std::move(*within));
  return state;
}

void ResizeIter::set_state(const StateValue& state) {
  check_iter_state(state, "ResizeIter", {{"size", size_}});
  const std::int64_t given = state.integer_at("given", "ResizeIter");
  check(given >= 0 && given <= size_, ErrorKind::kIo, "ResizeIter: {} batches given of {}", given,
        size_);
  iter_->set_state(state.at("within", "ResizeIter"));
  given_ = given;
}

}  // namespace symbind
