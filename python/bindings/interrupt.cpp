// Ctrl-C during C++ calls: the library polls for signals, and the running call raises the exception
// of Python's signal handler.

#include <signal.h>

#include <symbind/runtime.h>

#include "convert.h"

namespace symbind::python {
namespace {

unsigned long main_thread = 0;
PyObject* raised = nullptr;  // by a handler, not yet passed to the caller; guarded by the GIL

// Handlers run in the main thread only. Other threads must not acquire the GIL: the thread that
// waits for them may be holding it.
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

// While oneDNN multiplies, the stack pointer is in a small buffer on the heap (kernels of version
// 2.6 keep their workspace there), and a signal frame would be written below that buffer. So
// signals get a separate stack; Python's handlers request it (SA_ONSTACK).
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
