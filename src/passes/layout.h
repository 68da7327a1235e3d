#pragma once
// Which form (layout and type) every tensor has while the plan is being made, and the steps that
// change it.

#include <map>
#include <tuple>

#include "passes/lower.h"

namespace symbind {

/// Forms are a property of tensors inside the plan: readers take over the producer's form; a step
/// that changes it is added only where a reader cannot. One value is changed to one form only once.
class FormFlow {
 public:
  explicit FormFlow(Plan& plan) : plan_(plan) {}

  /// The tensor itself, or its copy in this form (adds the steps that make it in front).
  int in_form(int tensor, Layout layout, DType dtype, Phase phase);
  /// Its numbers change after the steps so far: copies made of it are not used again.
  void forget(int tensor);
  /// Adds the steps that write `tensor` into `target` (a bound array, plain).
  void write_plain(int tensor, int target, Phase phase);

 private:
  /// Either the layouts or the types of the two differ.
  void add_change(int from, int to, Phase phase);
  int copy_of(int tensor, Layout layout, DType dtype, Phase phase);

  Plan& plan_;
  std::map<std::tuple<int, Layout, DType>, int> copies_;
};

}  // namespace symbind
