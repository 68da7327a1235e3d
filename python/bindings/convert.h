#pragma once
// Converts values between Python and the public headers; used by every binding file.
//
// The public classes (NDArray, Symbol, Executor, Context, the exceptions) are Python classes
// derived from the types bound here. The package registers them once, at import, through
// register_types, and everything C++ returns is an instance of them.

#include <string>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <symbind/executor.h>
#include <symbind/ndarray.h>
#include <symbind/symbol.h>

namespace symbind::python {

namespace nb = nanobind;

/// The class that the package registered under a name: "NDArray", "Symbol", "MXNetError", …
nb::object registered(const char* name);
void register_types(const nb::dict& types);

/// A tuple or list of integers (anything with __index__), or one integer.
Shape shape_from(nb::handle value);
/// Unknown parts as users write them: 0 and () in the legacy convention, else -1 and None.
nb::object shape_to(const Shape& shape);

/// A NumPy type, a dtype, a name or a type flag.
DType dtype_from(nb::handle value);
/// The NumPy scalar type.
nb::object dtype_to(DType dtype);

/// A Context; None is the current one.
Context context_from(nb::handle value);
nb::object context_to(Context context);

/// An attribute as the text MXNet stores: str(value), types by name, no NumPy reprs.
std::string attr_text(nb::handle value);
/// How many such texts were made.
std::int64_t attr_texts_made();
AttrDict attr_dict_from(nb::handle mapping);

bool is_array(nb::handle value);
bool is_symbol(nb::handle value);
/// The array or symbol inside an object; null if it has none. kType for an object of a subclass
/// that did not call super().__init__().
NDArray* array_in(nb::handle value);
Symbol* symbol_in(nb::handle value);
/// The array inside a Python NDArray; `what` names the argument in the error.
const NDArray& array_from(nb::handle value, const char* what = "argument");
std::vector<NDArray> arrays_from(nb::handle sequence, const char* what);
/// The same for arrays that will be written: kValue for a read-only one.
bool is_writable(nb::handle array);
NDArray& writable_from(nb::handle value, const char* what = "argument");
std::vector<NDArray> writables_from(nb::handle sequence, const char* what);
NDArrayMap array_map_from(nb::handle mapping, const char* what);
/// A new object of the registered class.
nb::object array_to(NDArray array);
nb::object symbol_to(Symbol symbol);
/// A new object that shares the memory of `source`; read-only if `source` is.
nb::object view_to(nb::handle source, NDArray array);
/// A list; undefined arrays become None.
nb::list arrays_to(const std::vector<NDArray>& arrays);

/// An object that C++ holds and may release in any thread, or after the interpreter's end.
struct HeldObject {
  nb::object object;

  explicit HeldObject(nb::object held) : object(std::move(held)) {}
  HeldObject(const HeldObject&) = delete;
  HeldObject& operator=(const HeldObject&) = delete;
  ~HeldObject();
};

/// The registered name of the exception class of a kind.
const char* kind_class(ErrorKind kind);
/// Sets a Python exception with this text.
void set_error(nb::handle type, const char* text);
/// Sets the exception that made the library throw Interrupted.
void raise_interrupt();

// One function per public header.
void bind_error(nb::module_& m);
void bind_context(nb::module_& m);
void bind_ndarray(nb::module_& m);
void bind_dlpack(nb::module_& m, nb::handle array_class);
void bind_symbol(nb::module_& m);
void bind_executor(nb::module_& m);
void bind_operator(nb::module_& m);
void bind_autograd(nb::module_& m);
void bind_custom(nb::module_& m);
void bind_io(nb::module_& m);
void bind_recordio(nb::module_& m);
void bind_models(nb::module_& m);
void bind_runtime(nb::module_& m);
void bind_interrupt(nb::module_& m);
void bind_kvstore(nb::module_& m);
void bind_model(nb::module_& m);
void bind_predictor(nb::module_& m);
void bind_executor_group(nb::module_& m);
void bind_update_policy(nb::module_& m);
void bind_metric(nb::module_& m);
void bind_initializer(nb::module_& m);
void bind_monitor(nb::module_& m);
void bind_profiler(nb::module_& m);
void bind_callback(nb::module_& m);
void bind_log(nb::module_& m);
void bind_log_files(nb::module_& m);
void bind_dry_run(nb::module_& m);
void bind_lr_scheduler(nb::module_& m);
void bind_optimizer(nb::module_& m);
void bind_states(nb::module_& m);

}  // namespace symbind::python
