#pragma once
// Loops over symbols.

#include <functional>
#include <string>
#include <vector>

#include <symbind/symbol.h>

namespace symbind {

struct LoopResult {
  std::vector<Symbol> outputs, states;
};
/// The result of one iteration, from its slices of the data and the states of the previous
/// iteration.
using LoopBody =
    std::function<LoopResult(const std::vector<Symbol>& slices, const std::vector<Symbol>& states)>;

/// Runs `body` for every slice of `data` along its first axis: the outputs of all iterations
/// stacked, and the states of the last. The body is called once, with variables; anything it reads
/// from the outer graph becomes an input of the loop.
LoopResult foreach (const LoopBody& body, const std::vector<Symbol>& data,
                    const std::vector<Symbol>& states, const std::string& name = {});

/// A body that has been called: `foreach` for callers that manage attribute scopes themselves.
struct LoopTrace {
  std::string scope;  ///< value of the attribute __subgraph_name__ of the nodes that the body made
  std::vector<Symbol> data, states;
  std::vector<std::string> slice_names, state_names;  ///< of the variables it was called with
  LoopResult result;
  AttrDict attrs = {};  ///< user attributes of the loop's own node
};
LoopResult close_loop(const LoopTrace& trace, const std::string& name = {});

}  // namespace symbind
