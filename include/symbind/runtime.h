#pragma once
// What this build of Symbind is and can do.

#include <string>
#include <utility>
#include <vector>

#include <symbind/context.h>
#include <symbind/error.h>
#include <symbind/interrupt.h>
#include <symbind/settings.h>

namespace symbind {

/// "0.1.0".
std::string version();
/// MXNet's names of build features, and whether each is available.
std::vector<std::pair<std::string, bool>> features();

/// Whether a context's arrays are in GPU memory and its work runs there: true for gpu(i), unless
/// the setting SYMBIND_GPU_AS_CPU maps GPUs to the CPU.
bool in_gpu_memory(Context context);

}  // namespace symbind
