// Ctrl-C while C++ works: the library asks now and then, and what Python's handlers of signals
// raise comes out of the call that was running.

#include <signal.h>

#include <symbind/runtime.h>

#include "convert.h"

namespace symbind::python {
namespace {

unsigned long main_thread = 0;
PyObject* raised = nullptr;  // by a handler, on its way to the caller; guarded by the interpreter

// Handlers run in the main thread only. Others must not even take the interpreter: who waits for
// them may be holding it.
bool signal_raised() {
  if (PyThread_get_thread_ident() != main_thread || Py_IsInitialized() == 0) return false;
  const nb::gil_scoped_acquire acquire;
  if (PyErr_CheckSignals() == 0) return false;
  PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  if (trace != nullptr) PyException_SetTraceback(value, trace);
  Py_XDECREF(type);
  Py_XDECREF(trace);
  Py_XSETREF(raised, value);
  return true;
}

// While oneDNN multiplies, the stack pointer stands in a small buffer on the heap (its kernels of
// 2.6 keep their work space there), and the frame of a signal would be written in front of it. So
// signals get a stack of their own; Python's handlers ask for it (SA_ONSTACK).
void give_signals_a_stack() {
  stack_t now{};
  if (::sigaltstack(nullptr, &now) != 0 || (now.ss_flags & SS_DISABLE) == 0) return;
  alignas(64) static char stack[1 << 17];
  stack_t own{};
  own.ss_sp = stack;
  own.ss_size = sizeof(stack);
  ::sigaltstack(&own, nullptr);
}

}  // namespace

void raise_interrupt() {
  if (raised == nullptr) return PyErr_SetNone(PyExc_KeyboardInterrupt);
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(raised)), raised);
  Py_CLEAR(raised);
}

void bind_interrupt(nb::module_&) {
  main_thread = nb::cast<unsigned long>(
      nb::module_::import_("threading").attr("main_thread")().attr("ident"));
  set_interrupt_check(&signal_raised);
  give_signals_a_stack();
}

}  // namespace symbind::python
