// symbind._core: bindings of the public headers, one file per header.

#include "training.h"

NB_MODULE(_core, m) {
  using namespace symbind::python;
  m.doc() = "The C++ side of Symbind. Users import symbind, not this.";
  // Classes of the package keep instances alive after the interpreter's cleanup.
  nanobind::set_leak_warnings(false);
  bind_error(m);
  bind_context(m);
  bind_ndarray(m);
  bind_operator(m);
  bind_autograd(m);
  bind_custom(m);
  bind_symbol(m);
  bind_executor(m);
  bind_io(m);
  bind_recordio(m);
  bind_models(m);
  bind_runtime(m);
  bind_interrupt(m);
  bind_kvstore(m);
  bind_model(m);
  bind_update_policy(m);
  bind_predictor(m);
  bind_executor_group(m);
  bind_metric(m);
  bind_initializer(m);
  bind_monitor(m);
  bind_profiler(m);
  bind_callback(m);
  bind_log(m);
  bind_log_files(m);
  bind_dry_run(m);
  bind_lr_scheduler(m);
  bind_optimizer(m);
  bind_states(m);
  bind_resume(m);
}
