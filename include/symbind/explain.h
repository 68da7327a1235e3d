#pragma once
// Explaining a compiled network: its plan as text, as JSON, or as a self-contained HTML page. Times
// are shown if the profiler ran. docs/explain.md explains a page.

#include <string>

#include <symbind/executor.h>

namespace symbind {

class Module;

struct ExplainOptions {
  std::string format = "html";  ///< html, json or text
  std::string title = {};       ///< of the page; the symbol's name by default
  int device = 0;               ///< index, for a module with several
};

/// Steps, shapes, layouts, chosen and rejected kernels, memory over time, FLOPs and bytes.
std::string explain(const Executor& executor, const ExplainOptions& options = {});
/// The executor of one of the module's devices; throws kState before bind.
std::string explain(const Module& module, const ExplainOptions& options = {});
/// Writes it to a file, whole or not at all.
void explain_to_file(const Executor& executor, const std::string& path,
                     const ExplainOptions& options = {});

}  // namespace symbind
