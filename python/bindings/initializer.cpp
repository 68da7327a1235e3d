// Initializers: C++ dispatches by parameter name to Python methods, which users override; the
// built-in methods call C++ for the numbers.

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/vector.h>

#include <symbind/initializer.h>

#include "convert.h"

namespace symbind::python {
namespace {

/// Wraps a Python initializer for C++. Looks its methods up at every call.
class PyInitializer : public Initializer {
 public:
  explicit PyInitializer(nb::object self) : self_(std::move(self)) {}
  PyInitializer(nb::object self, nb::object desc, nb::object array)
      : self_(std::move(self)), desc_(std::move(desc)), array_(std::move(array)) {}

  /// Called for the parts of a fused parameter, like a call from Python code.
  void operator()(const InitDesc& desc, NDArray& array) const override {
    self_(desc_to(desc), array_to(array));
  }
  void dispatch(const InitDesc& desc, NDArray& array) const {
    Initializer::operator()(desc, array);
  }
  void init_weight(const InitDesc& d, NDArray& a) const override { call("_init_weight", d, a); }
  void init_bias(const InitDesc& d, NDArray& a) const override { call("_init_bias", d, a); }
  void init_gamma(const InitDesc& d, NDArray& a) const override { call("_init_gamma", d, a); }
  void init_beta(const InitDesc& d, NDArray& a) const override { call("_init_beta", d, a); }
  void init_zero(const InitDesc& d, NDArray& a) const override { call("_init_zero", d, a); }
  void init_one(const InitDesc& d, NDArray& a) const override { call("_init_one", d, a); }
  void init_bilinear(const InitDesc& d, NDArray& a) const override { call("_init_bilinear", d, a); }
  void init_loc_bias(const InitDesc& d, NDArray& a) const override { call("_init_loc_bias", d, a); }
  void init_quantized_weight(const InitDesc& d, NDArray& a) const override {
    call("_init_quantized_weight", d, a);
  }
  void init_quantized_bias(const InitDesc& d, NDArray& a) const override {
    call("_init_quantized_bias", d, a);
  }
  void init_default(const InitDesc& d, NDArray& a) const override { call("_init_default", d, a); }
  void init_by_attribute(const InitDesc&, const std::string& init, NDArray&) const override {
    registered("create_initializer")(init).attr("_init_weight")(desc_, array_);
  }
  void report(const InitDesc&, const std::string& role, const NDArray&) const override {
    self_.attr("_verbose_print")(desc_, role, array_);
  }
  std::string dumps() const override { return nb::cast<std::string>(self_.attr("dumps")()); }

 private:
  void call(const char* method, const InitDesc&, NDArray&) const {
    self_.attr(method)(desc_, array_);
  }
  static nb::object desc_to(const InitDesc& desc) {
    const auto* global = dynamic_cast<const PyInitializer*>(desc.global_init);
    return registered("InitDesc")(desc.name, nb::dict(), global ? global->self_ : nb::none());
  }

  nb::object self_, desc_, array_;  // held during one call
};

InitDesc desc_from(nb::handle desc) {
  InitDesc made{.name = nb::cast<std::string>(nb::str(desc)), .attrs = {}, .global_init = nullptr};
  const nb::object attrs = nb::getattr(desc, "attrs", nb::none());
  if (attrs.is_none()) return made;
  const nb::object init = attrs.attr("get")("__init__", "");
  if (!init.is_none()) made.attrs["__init__"] = nb::cast<std::string>(nb::str(init));
  return made;
}

using Hook = void (Initializer::*)(const InitDesc&, NDArray&) const;

/// Fills the array as the C++ base class does for this name.
Hook hook_of(const std::string& role) {
  if (role == "bilinear") return &Initializer::init_bilinear;
  if (role == "loc_bias") return &Initializer::init_loc_bias;
  if (role == "quantized_weight") return &Initializer::init_quantized_weight;
  return &Initializer::init_default;
}

void fused_rnn(nb::object init, nb::object desc, nb::handle array, const nb::dict& options) {
  FusedRNNOptions o{.num_hidden = nb::cast<int>(options["num_hidden"]),
                    .num_layers = nb::cast<int>(options["num_layers"]),
                    .mode = nb::cast<std::string>(options["mode"]),
                    .bidirectional = nb::cast<bool>(options["bidirectional"]),
                    .forget_bias = nb::cast<double>(options["forget_bias"])};
  if (!init.is_none()) o.init = std::make_shared<PyInitializer>(init);
  const nb::object global_init = nb::getattr(desc, "global_init", nb::none());
  const PyInitializer global(global_init);
  InitDesc made = desc_from(desc);
  if (!global_init.is_none()) made.global_init = &global;
  NDArray target = writable_from(array, "arr");
  FusedRNN(o)->init_weight(made, target);
}

}  // namespace

void bind_initializer(nb::module_& m) {
  using I = Initializer;
  nb::class_<I>(m, "Initializer")
      .def("init_weight",
           [](const I& init, const std::string& name, nb::handle array) {
             NDArray target = writable_from(array, "arr");
             init.init_weight({.name = name}, target);
           })
      .def("init_role",
           [](const I& init, const std::string& role, const std::string& name, nb::handle array) {
             NDArray target = writable_from(array, "arr");
             (init.*hook_of(role))({.name = name}, target);
           })
      .def("dumps", [](const I& init) { return init.dumps(); });
  m.def("create_initializer", [](const std::string& name, const nb::dict& params) {
    return std::const_pointer_cast<Initializer>(create_initializer(name, attr_dict_from(params)));
  });
  m.def("initialize", [](nb::object self, nb::object desc, nb::object array) {
    NDArray target = writable_from(array, "arr");
    PyInitializer(self, desc, array).dispatch(desc_from(desc), target);
  });
  m.def("initialize_legacy", [](nb::object self, nb::object name, nb::object array) {
    NDArray target = writable_from(array, "arr");
    PyInitializer(self, name, array).legacy(nb::cast<std::string>(name), target);
  });
  m.def("initialize_fused_rnn", &fused_rnn, nb::arg("init").none(), nb::arg("desc").none(),
        nb::arg("array"), nb::arg("options"));
}

}  // namespace symbind::python
