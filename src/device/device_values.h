#pragma once
// A small block of numbers that kernels read on the device: learning rates and other values that
// change between runs while the launches stay the same.

#include <cstddef>

namespace symbind {

class DeviceValues {
 public:
  virtual ~DeviceValues() = default;
  DeviceValues(const DeviceValues&) = delete;
  DeviceValues& operator=(const DeviceValues&) = delete;

  /// Kernels launched from now on read these `count()` values; those in flight read the earlier
  /// ones.
  virtual void write(const double* values) = 0;
  /// On the device; the same for the block's lifetime.
  const double* data() const { return data_; }
  std::size_t count() const { return count_; }

 protected:
  DeviceValues() = default;
  double* data_ = nullptr;
  std::size_t count_ = 0;
};

}  // namespace symbind
