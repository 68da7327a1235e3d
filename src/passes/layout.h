#pragma once
// Which layout every tensor has while the plan is being made, and the reorders between them.

#include <map>

#include "passes/lower.h"

namespace symbind {

/// Layouts are a property of tensors inside the plan: a producer's layout flows to its readers, and
/// a reorder stands only where a reader cannot take it. One value is brought into one layout once.
class LayoutFlow {
 public:
  explicit LayoutFlow(Plan& plan) : plan_(plan) {}

  /// The tensor itself, or its copy in `layout` (adds the reorder step in front).
  int in_layout(int tensor, Layout layout, Phase phase);
  /// Adds a step that writes `tensor` plainly into `target` (a bound array).
  void write_plain(int tensor, int target, Phase phase);

 private:
  void add_reorder(int from, int to, Phase phase);

  Plan& plan_;
  std::map<std::pair<int, Layout>, int> copies_;
};

}  // namespace symbind
