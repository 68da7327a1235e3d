// Sums over devices from inside their runs: every device brings numbers, all leave with the sums.
//
// Decided here: devices are told apart by their numbers and summed in that order, so that runs
// repeat bit for bit. A device that does not come within Limit::kDeviceWait is an error for those
// that wait: nothing waits for ever.
#pragma once

#include <span>
#include <string>

namespace symbind {

/// Adds `numbers` over the `count` devices that call this with the same key. Every device must run
/// in a thread of its own.
void sum_over_devices(const std::string& key, int count, int device, std::span<double> numbers);

}  // namespace symbind
