#pragma once
// A bool argument. MXNet uses the truth value of any object, so scripts pass 1 or numpy.bool_ for
// True; nanobind's bool accepts only True and False. Strings are refused: the truth value of
// "False" is true.

#include <nanobind/nanobind.h>

namespace symbind::python {

struct Flag {
  bool value = false;
  operator bool() const {
    return value;
  }  // NOLINT(google-explicit-constructor): it converts like bool
};

}  // namespace symbind::python

template <>
struct nanobind::detail::type_caster<symbind::python::Flag> {
  NB_TYPE_CASTER(symbind::python::Flag, const_name("bool"))

  bool from_python(handle given, uint8_t, cleanup_list*) noexcept {
    PyObject* object = given.ptr();
    if (object != Py_True && object != Py_False && !PyNumber_Check(object)) return false;
    const int truth = PyObject_IsTrue(object);
    if (truth < 0) PyErr_Clear();  // an array of several numbers
    value.value = truth == 1;
    return truth >= 0;
  }

  static handle from_cpp(symbind::python::Flag flag, rv_policy, cleanup_list*) noexcept {
    return handle(flag.value ? Py_True : Py_False).inc_ref();
  }
};
