#pragma once
// Which layout every tensor has while the plan is being made, and the reorders between them.

#include <map>

#include "passes/lower.h"

namespace symbind {

/// Layouts are a property of tensors inside the plan: readers take over the producer's layout; a
/// reorder is added only where a reader cannot. One value is converted to one layout only once.
class LayoutFlow {
 public:
  explicit LayoutFlow(Plan& plan) : plan_(plan) {}

  /// The tensor itself, or its copy in `layout` (adds the reorder step in front).
  int in_layout(int tensor, Layout layout, Phase phase);
  /// Adds a step that writes `tensor` in plain layout into `target` (a bound array).
  void write_plain(int tensor, int target, Phase phase);

 private:
  void add_reorder(int from, int to, Phase phase);

  Plan& plan_;
  std::map<std::pair<int, Layout>, int> copies_;
};

}  // namespace symbind
