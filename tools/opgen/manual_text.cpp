// docs/ops.md: the operators with their inputs, outputs and parameters.

#include <fmt/format.h>

#include "operator_page.h"

namespace opgen {
namespace {

std::string cell(std::string text) {
  for (std::size_t at = 0; (at = text.find_first_of("|\n", at)) != text.npos; ++at) {
    if (text[at] == '\n') {
      text[at] = ' ';
    } else {
      text.insert(at++, "\\");
    }
  }
  return text;
}

std::string entry(const Page& page) {
  std::string text = fmt::format("\n### {}\n\n", page.name);
  if (!page.def->doc.empty()) text += page.def->doc + "\n\n";
  if (!page.aliases.empty())
    text += fmt::format("Also called `{}`. ", fmt::join(page.aliases, "`, `"));
  text += page.variadic         ? "Inputs: a list"
          : page.inputs.empty() ? "Inputs: none"
                                : fmt::format("Inputs: `{}`", fmt::join(page.inputs, "`, `"));
  text += fmt::format(". Outputs: `{}`.", fmt::join(page.outputs, "`, `"));
  if (!page.def->aux_inputs.empty()) {
    text += " Auxiliary states:";
    for (const int i : page.def->aux_inputs)
      text += fmt::format(" `{}`", page.inputs.at(static_cast<std::size_t>(i)));
    text += ".";
  }
  text += "\n";
  if (page.fields.empty()) return text;
  text += "\n| parameter | type | |\n|---|---|---|\n";
  for (const Field& f : page.fields)
    text += fmt::format("| `{}` | {} | {} |\n", f.name, cell(f.type_text), cell(f.doc));
  return text;
}

}  // namespace

std::string manual_text(const std::vector<Page>& pages) {
  std::string text =
      "# Operators\n\nWritten by tools/opgen from the registry; do not edit. C++ functions are in "
      "`<symbind/ops.h>`;\nparameters are in MXNet's positional order.\n";
  for (const Page& page : pages) {
    if (!page.internal) text += entry(page);
  }
  text +=
      "\n## Operators that begin with an underscore\n\nReached through `make_symbol`; expressions "
      "and other operators "
      "are made of them.\n";
  for (const Page& page : pages) {
    if (page.internal) text += entry(page);
  }
  return text;
}

}  // namespace opgen
