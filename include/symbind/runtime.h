#pragma once
// What this build of Symbind is and can do, its settings, and stopping its work from outside.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <symbind/context.h>
#include <symbind/error.h>

namespace symbind {

/// "0.1.0".
std::string version();
/// MXNet's names of build features, and whether each is there.
std::vector<std::pair<std::string, bool>> features();

/// Whether a context's arrays lie in the memory of a GPU and its work runs there: true of gpu(i),
/// unless the setting SYMBIND_GPU_AS_CPU has the GPUs stand for the CPU.
bool in_gpu_memory(Context context);

/// Takes a snapshot of the environment variables that are settings (docs/settings.md); everything
/// reads the snapshot. Binding, fit, loading a file and the creation of iterators, stores,
/// optimizers and Predictors call it too: no other thread may change the environment meanwhile.
void refresh_settings();

/// The value of a setting in the snapshot; kName if there is none of this name.
std::string setting(std::string_view name);

/// Calls `read` where no other thread changes the environment.
using EnvironmentGuard = void (*)(void (*read)());

/// Installs what every snapshot is taken in; Python's guard holds the interpreter lock. Null
/// removes it.
void set_environment_guard(EnvironmentGuard guard);

/// Thrown where work was asked to stop. It is no error of what was being computed: nothing keeps
/// it for later, and arrays that were being written stay readable, partly written.
class Interrupted : public Error {
 public:
  Interrupted() : Error(ErrorKind::kState, "interrupted") {}
};

/// Says whether the work of the calling thread shall stop.
using InterruptCheck = bool (*)();

/// Installs a check that long work asks: between the steps of an executor and within a large
/// product, at most every 50 ms in each thread. Null removes it.
void set_interrupt_check(InterruptCheck check);

}  // namespace symbind
