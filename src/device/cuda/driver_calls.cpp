#include "device/cuda/driver_calls.h"

#include <cuda_runtime_api.h>

#include "base/check.h"

namespace symbind {
namespace {

template <class F>
void find(F& function, const char* name) {
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult found{};
  const cudaError_t status =
      cudaGetDriverEntryPointByVersion(name, &entry, 12000, cudaEnableDefault, &found);
  if (status != cudaSuccess) cudaGetLastError();
  check(status == cudaSuccess && entry != nullptr, ErrorKind::kState,
        "the CUDA driver has no {}\n  fix:  install a driver for CUDA 13 or newer", name);
  function = reinterpret_cast<F>(entry);
}

DriverCalls find_all() {
  DriverCalls d{};
  find(d.get_error_string, "cuGetErrorString");
  find(d.address_reserve, "cuMemAddressReserve");
  find(d.address_free, "cuMemAddressFree");
  find(d.create, "cuMemCreate");
  find(d.release, "cuMemRelease");
  find(d.map, "cuMemMap");
  find(d.unmap, "cuMemUnmap");
  find(d.set_access, "cuMemSetAccess");
  find(d.granularity, "cuMemGetAllocationGranularity");
  return d;
}

}  // namespace

const DriverCalls& driver() {
  static const DriverCalls calls = find_all();
  return calls;
}

}  // namespace symbind
