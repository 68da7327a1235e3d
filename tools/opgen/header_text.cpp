// include/symbind/ops.h: for each operator its options, its inputs and its functions.

#include <fmt/format.h>

#include "operator_page.h"

namespace opgen {
namespace {

constexpr const char* kOpening = R"(#pragma once
// Written by tools/opgen from the registry; do not edit. docs/ops.md is the manual.
//
//   FullyConnected("fc1", data, {.num_hidden = 128})
//   FullyConnected("fc2", {.data = act1, .weight = shared}, {.num_hidden = 10})
//   Concat("c", {a, b}, {.dim = 1})
//
// Inputs that are not given become variables `<name>_<input>`; an empty name is made up. Options
// that are not given keep their defaults and are not stored. Operators whose names begin with an
// underscore are called through make_symbol and invoke. The structs have their own namespace; calls
// never need to name them.
//
// Without a name an operator runs on arrays at once:
//
//   NDArray y = FullyConnected(x, weight, bias, {.num_hidden = 128})
//   NDArray y = FullyConnected(x, weight, {.num_hidden = 128, .no_bias = true})
//   relu(x, {}, y)          writes y
//   std::vector<NDArray> parts = SliceChannel(x, {.num_outputs = 2})
//
// Both kinds are templates so that a program compiles those it calls and no others.

#include <symbind/detail/op_call.h>

namespace symbind {
)";

// Wraps at 100 columns.
std::string comment(const std::string& text, const std::string& opening) {
  std::string result, line = opening;
  std::size_t from = 0;
  while (from < text.size()) {
    const std::size_t blank = std::min(text.find_first_of(" \n", from), text.size());
    const std::string word = text.substr(from, blank - from);
    if (line.size() + 1 + word.size() > 100 && line != opening) {
      result += line + "\n";
      line = opening;
    }
    line += " " + word;
    from = blank + 1;
  }
  return result + line + "\n";
}

std::string options_type(const Page& page) {
  return page.fields.empty() ? "NoOptions" : "ops::" + page.type_stem + "Options";
}

std::string options_struct(const Page& page) {
  if (page.fields.empty()) return {};
  std::string text = fmt::format("struct {}Options {{\n", page.type_stem);
  std::string each;
  for (const Field& f : page.fields) {
    text += comment(f.doc + " (" + f.type_text + ")", "  ///");
    text += fmt::format("  {} {} = {{}};\n", f.cpp_type, f.member);
    each += fmt::format("    f(\"{}\", {});\n", f.name, f.member);
  }
  text += "  AttrDict attr = {};  ///< user attributes\n";
  return text +
         fmt::format("  template <class F>\n  void each(F&& f) const {{\n{}  }}\n}};\n", each);
}

std::string inputs_struct(const Page& page) {
  if (page.inputs.size() < 2) return {};
  std::string text = fmt::format("struct {}Inputs {{\n", page.type_stem);
  for (const std::string& input : page.inputs) text += fmt::format("  Symbol {} = {{}};\n", input);
  return text + "};\n";
}

// One function; `parameters` come between the name and the options.
std::string function(const Page& page, const std::string& parameters, const char* call,
                     const std::string& inputs) {
  return fmt::format(
      "template <class = void>\nSymbol {0}(const std::string& name, {1}const {2}& options = {{}}) "
      "{{\n  return "
      "{3}(\"{0}\", name, {4}, dict_of(options));\n}}\n",
      page.name, parameters, options_type(page), call, inputs);
}

std::string functions(const Page& page) {
  if (page.variadic)
    return function(page, "const std::vector<Symbol>& inputs, ", "call_op", "inputs");
  if (page.inputs.empty()) return function(page, "", "call_op", "{}");
  const auto& in = page.inputs;
  std::string text = function(page, fmt::format("const Symbol& {}, ", in[0]), "call_op",
                              fmt::format("{{{}}}", in[0]));
  if (in.size() == 2) {
    text += function(page, fmt::format("const Symbol& {}, const Symbol& {}, ", in[0], in[1]),
                     "call_op", fmt::format("{{{}, {}}}", in[0], in[1]));
  }
  if (in.size() >= 2) {
    std::string named;
    for (const std::string& input : in)
      named += fmt::format("{}{{\"{}\", inputs.{}}}", named.empty() ? "" : ", ", input, input);
    text += function(page, fmt::format("const ops::{}Inputs& inputs, ", page.type_stem),
                     "call_op_named", "{" + named + "}");
  }
  return text;
}

// ---- On arrays ----------------------------------------------------------------------------------

std::string array_function(const Page& page, const std::string& parameters,
                           const std::string& inputs) {
  const char* type = page.one_output ? "NDArray" : "std::vector<NDArray>";
  return fmt::format(
      "template <class = void>\n{0} {1}({2}const {3}& options = {{}}, const {0}& out = {{}}) {{\n"
      "  static const ArrayOp op(\"{1}\");\n  return op.{4}({5}, options, out);\n}}\n",
      type, page.name, parameters, options_type(page), page.one_output ? "one" : "all", inputs);
}

std::string array_functions(const Page& page) {
  if (page.variadic) return array_function(page, "const std::vector<NDArray>& inputs, ", "inputs");
  const auto& in = page.inputs;
  if (in.empty()) return array_function(page, "", "std::vector<NDArray>{}");
  std::string text, parameters, list;
  for (std::size_t i = 0; i < in.size(); ++i) {
    parameters += fmt::format("const NDArray& {}, ", in[i]);
    list += fmt::format("{}{}", i ? ", " : "", in[i]);
    if (i + 1 == in.size() || page.fewer_inputs.contains(i + 1))
      text += array_function(page, parameters, "{" + list + "}");
  }
  return text;
}

}  // namespace

std::string header_text(const std::vector<Page>& pages) {
  std::string text = kOpening;
  for (const Page& page : pages) {
    if (page.internal) continue;
    const std::string structs = options_struct(page) + inputs_struct(page);
    text += structs.empty() ? "\n" : "\nnamespace ops {\n" + structs + "}  // namespace ops\n";
    text += comment(page.def->doc.empty() ? page.name + "." : page.def->doc, "///");
    text += functions(page);
    text += array_functions(page);
  }
  return text + "\n}  // namespace symbind\n";
}

}  // namespace opgen
