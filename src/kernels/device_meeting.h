// Sums over devices from inside their runs: every device contributes numbers and receives the sums.
//
// Decided here: devices are identified by their numbers and summed in that order, so that runs
// repeat bit for bit. If a device does not arrive within Limit::kDeviceWait, the waiting ones raise
// an error: nothing waits forever.
#pragma once

#include <span>
#include <string>

namespace symbind {

/// Adds `numbers` over the `count` devices that call this with the same key. Every device must run
/// in its own thread.
void sum_over_devices(const std::string& key, int count, int device, std::span<double> numbers);

}  // namespace symbind
