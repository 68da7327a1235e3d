// Checkpoints: where the files are and how they are written.

#include <nanobind/stl/vector.h>

#include <symbind/model.h>

#include "convert.h"
#include "flag.h"

namespace symbind::python {

namespace {

void check(nb::handle args, nb::handle needed_args, nb::handle aux, nb::handle needed_aux,
           Flag allow_missing) {
  const NDArrayMap given_args = array_map_from(args, "a parameter");
  const NDArrayMap given_aux = array_map_from(aux, "an auxiliary state");
  check_params(args.is_none() ? nullptr : &given_args, array_map_from(needed_args, "a parameter"),
               aux.is_none() ? nullptr : &given_aux,
               array_map_from(needed_aux, "an auxiliary state"), allow_missing);
}

}  // namespace

void bind_model(nb::module_& m) {
  m.def("check_params", &check, nb::arg("args").none(), nb::arg("needed_args"),
        nb::arg("aux").none(), nb::arg("needed_aux"), nb::arg("allow_missing"));
  m.def("checkpoint_epochs", &checkpoint_epochs, "Epochs that have a file of parameters.");
  m.def(
      "write_file",
      [](const std::string& path, const nb::bytes& bytes) {
        write_file(path, {bytes.c_str(), bytes.size()});
      },
      "Writes a file atomically.");
}

}  // namespace symbind::python
