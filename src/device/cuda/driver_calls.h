#pragma once
// The calls of the CUDA driver we need beyond the runtime's.
//
// Decided here: they are looked up at run time. A library linked against the driver would not even
// load on a machine without one.

#include <cuda.h>

namespace symbind {

struct DriverCalls {
  decltype(&cuGetErrorString) get_error_string;
  decltype(&cuMemAddressReserve) address_reserve;
  decltype(&cuMemAddressFree) address_free;
  decltype(&cuMemCreate) create;
  decltype(&cuMemRelease) release;
  decltype(&cuMemMap) map;
  decltype(&cuMemUnmap) unmap;
  decltype(&cuMemSetAccess) set_access;
  decltype(&cuMemGetAllocationGranularity) granularity;
};

/// Throws kState where there is no driver.
const DriverCalls& driver();

}  // namespace symbind
