#pragma once
// The description of an executor as data: the page, the JSON and the text are made from it.

#include <nlohmann/json.hpp>

#include "executor/fused_step.h"
#include "executor/watchers.h"

namespace symbind {

/// A block of an arena: which tensor holds which bytes from one step to another, both included.
struct MemoryBlock {
  int tensor = -1;  ///< -1: the workspace of step `first`
  int first = 0, last = 0;
  std::size_t offset = 0, bytes = 0;
};
/// The blocks of one device's arena. Where an output takes over the memory of an input, the input's
/// block ends before the step: no two blocks overlap in steps and bytes.
std::vector<MemoryBlock> memory_blocks(const Plan& plan, int slot, bool reused);

nlohmann::ordered_json explanation(const Executor& executor, const std::string& title);

}  // namespace symbind
