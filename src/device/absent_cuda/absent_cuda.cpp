// The CUDA runtime of a CPU build: every use is an error.

#include "base/check.h"
#include "device/cuda_runtime.h"

namespace symbind {

DeviceRuntime& cuda_runtime(int id) {
  fail(ErrorKind::kValue,
       "gpu({}) cannot be used: no CUDA device\n"
       "  devices: 0, because this is a CPU build of Symbind\n"
       "  fix:  use cpu(), or run the script as it is on the CPU with SYMBIND_GPU_AS_CPU=1 in the "
       "environment, or build with the preset cuda",
       id);
}

int cuda_device_count() { return 0; }

}  // namespace symbind
