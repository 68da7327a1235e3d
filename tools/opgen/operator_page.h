#pragma once
// What the generated files say of one operator, read off its registration.

#include <set>
#include <string>
#include <vector>

#include <symbind/operator.h>

namespace opgen {

struct Field {
  std::string name;       ///< as MXNet spells it
  std::string member;     ///< as C++ may spell it
  std::string cpp_type;   ///< of the option
  std::string type_text;  ///< "int, required"
  std::string doc;
};

struct Page {
  const symbind::OpDef* def = nullptr;
  std::string name;                  ///< what users call: a public alias where the name is internal
  std::vector<std::string> aliases;  ///< the other public names
  std::string type_stem;             ///< "SliceAxis" of slice_axis
  std::vector<Field> fields;         ///< without the count of a variadic operator
  std::vector<std::string> inputs;   ///< the most it may take; empty where variadic
  std::set<std::size_t> fewer_inputs;  ///< how many there are where attributes do without the rest
  std::vector<std::string> outputs;    ///< visible ones, at default attributes
  bool variadic = false;
  bool one_output = true;  ///< visible ones, whatever the attributes are
  bool internal = false;   ///< no public name: for make_symbol only
};

/// Every operator users may call, by name.
std::vector<Page> pages(const symbind::OpRegistry& registry);

std::string header_text(const std::vector<Page>& pages);
std::string manual_text(const std::vector<Page>& pages);

}  // namespace opgen
