// The networks of symbind::models. Names and attributes of their nodes come from the package's
// scopes, so that `with mx.name.Prefix('a_'):` applies to them too.

#include <nanobind/stl/vector.h>
#include <symbind/models.h>

#include "convert.h"

namespace symbind::python {
namespace {

class PackageNames : public NameManager {
 public:
  std::string get(const std::string& name, const std::string& hint) override {
    return nb::cast<std::string>(registered("name_for")(name, hint));
  }
};

nb::object create(const std::string& network, const nb::dict& options) {
  const PackageNames names;
  const AttrScope scope(attr_dict_from(registered("attrs_for")(nb::none())));
  return symbol_to(models::create(network, attr_dict_from(options)));
}

nb::list options_of(const std::string& network) {
  nb::list result;
  for (const models::Option& o : models::options_of(network))
    result.append(nb::make_tuple(o.name, o.type, o.value, o.doc));
  return result;
}

}  // namespace

void bind_models(nb::module_& m) {
  m.def("model_names", &models::names);
  m.def("model_options", &options_of);
  m.def("create_model", &create);
}

}  // namespace symbind::python
