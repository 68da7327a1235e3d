// Tables that a kernel builds in its first run and then keeps.
//
// Kernels are prepared before their outputs have memory. A table with an entry for each element of
// an output must not be made then: if an attribute requests an output too large for memory, the
// output must raise the error, not the table.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>

namespace symbind {

/// Calls `make` once, at the first use; copies share what was made. Any thread may be the first.
template <class Make>
class FirstRun {
 public:
  explicit FirstRun(Make make) : state_(std::make_shared<State>(std::move(make))) {}
  const auto& operator()() const {
    std::call_once(state_->once, [this] { state_->made.emplace(state_->make()); });
    return *state_->made;
  }

 private:
  struct State {
    explicit State(Make make_) : make(std::move(make_)) {}
    Make make;
    std::once_flag once;
    std::optional<std::invoke_result_t<Make>> made;
  };
  std::shared_ptr<State> state_;
};

}  // namespace symbind
