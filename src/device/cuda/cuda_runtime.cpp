// A GPU as a device: one stream orders all work.
//
// Decided here: a device is initialised at its first use, so waiting for all devices initialises
// none. Copies from the host go through pinned slots, so the host need not wait for the device.

#include "device/cuda_runtime.h"

#include <atomic>
#include <deque>

#include "base/check.h"
#include "device/cuda/cuda_arena.h"
#include "device/cuda/cuda_error.h"
#include "device/cuda/cuda_recording.h"
#include "device/cuda/memory_cache.h"
#include "device/cuda/pinned_ring.h"

namespace symbind {
namespace {

constexpr std::size_t kStagingSlots = 4;
constexpr std::size_t kStagingBytes = std::size_t{2} << 20;
constexpr std::size_t kValueSlots = 16;

class CudaRuntime : public DeviceRuntime {
 public:
  explicit CudaRuntime(int device) : device_(device) {}

  void* allocate(std::size_t bytes) override {
    if (bytes == 0) return nullptr;
    make_current();
    const std::size_t block = MemoryCache::block_bytes(bytes);
    if (void* cached = cache_.take(block)) return cached;
    void* data = nullptr;
    cudaError_t status = cudaMalloc(&data, block);
    if (status == cudaErrorMemoryAllocation) {
      cudaGetLastError();
      for (void* unused : cache_.drain()) cudaFree(unused);
      status = cudaMalloc(&data, block);
    }
    if (status == cudaErrorMemoryAllocation) {
      cudaGetLastError();
      fail_device_memory(bytes, "array", device_);
    }
    check_cuda(status, "cudaMalloc");
    return data;
  }

  void release(void* data, std::size_t bytes) noexcept override {
    if (data == nullptr) return;
    if (cache_.keep(data, MemoryCache::block_bytes(bytes))) return;
    cudaSetDevice(device_);
    cudaFree(data);  // waits for the device; an error of earlier work shows at the next wait
  }

  void copy(void* dst, const void* src, std::size_t bytes, CopyKind kind) override {
    if (bytes == 0) return;
    make_current();
    if (kind == CopyKind::kHostToDevice) return staging_.copy(dst, src, bytes, stream_);
    const auto direction =
        kind == CopyKind::kDeviceToHost ? cudaMemcpyDeviceToHost : cudaMemcpyDeviceToDevice;
    check_cuda(cudaMemcpyAsync(dst, src, bytes, direction, stream_), "cudaMemcpyAsync");
    if (kind == CopyKind::kDeviceToHost) synchronize();
  }

  void zero(void* data, std::size_t bytes) override {
    if (bytes == 0) return;
    make_current();
    check_cuda(cudaMemsetAsync(data, 0, bytes, stream_), "cudaMemsetAsync");
  }

  void synchronize() override {
    if (!started_.load(std::memory_order_acquire)) return;
    make_current();
    check_cuda(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
  }

  std::unique_ptr<Arena> make_arena() override {
    make_current();
    return make_cuda_arena(device_, stream_);
  }

  MemoryInfo memory() override {
    make_current();
    MemoryInfo info;
    check_cuda(cudaMemGetInfo(&info.free, &info.total), "cudaMemGetInfo");
    info.free += cache_.held();
    return info;
  }

  void* stream() override {
    make_current();
    return stream_;
  }

  void make_current() override {
    check_cuda(cudaSetDevice(device_), "cudaSetDevice");
    if (!started_.load(std::memory_order_acquire)) [[unlikely]]
      start();
  }

  std::unique_ptr<DeviceValues> make_values(std::size_t count) override;

  std::unique_ptr<Recording> record(const std::function<void(void* stream)>& work) override {
    make_current();
    return record_cuda(device_, stream_, work);
  }

 private:
  void start() {
    const std::lock_guard lock(starting_);
    if (started_.load(std::memory_order_acquire)) return;
    check_cuda(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking),
               "cudaStreamCreateWithFlags");
    started_.store(true, std::memory_order_release);
  }

  const int device_;
  std::mutex starting_;
  std::atomic<bool> started_{false};
  cudaStream_t stream_ = nullptr;
  MemoryCache cache_;
  PinnedRing staging_{kStagingSlots, kStagingBytes};
};

class CudaValues : public DeviceValues {
 public:
  CudaValues(CudaRuntime& device, std::size_t count)
      : device_(device), bytes_(count * sizeof(double)), ring_(kValueSlots, bytes_) {
    data_ = static_cast<double*>(device.allocate(bytes_));
    count_ = count;
  }
  ~CudaValues() override { device_.release(data_, bytes_); }

  void write(const double* values) override {
    ring_.copy(data_, values, bytes_, static_cast<cudaStream_t>(device_.stream()));
  }

 private:
  CudaRuntime& device_;
  std::size_t bytes_;
  PinnedRing ring_;
};

std::unique_ptr<DeviceValues> CudaRuntime::make_values(std::size_t count) {
  return std::make_unique<CudaValues>(*this, count);
}

struct Devices {
  std::string why_none = "the machine has no CUDA device";
  std::deque<CudaRuntime> runtimes;

  Devices() {
    int count = 0;
    const cudaError_t status = cudaGetDeviceCount(&count);
    if (status != cudaSuccess) {
      cudaGetLastError();
      why_none = cudaGetErrorString(status);
      count = 0;
    }
    for (int id = 0; id < count; ++id) runtimes.emplace_back(id);
  }
};

Devices& devices() {
  // Never destroyed: arrays in static variables may outlive every other static.
  static Devices& all = *new Devices;
  return all;
}

}  // namespace

DeviceRuntime& cuda_runtime(int id) {
  auto& runtimes = devices().runtimes;
  const auto count = static_cast<int>(runtimes.size());
  if (count == 0)
    fail(
        ErrorKind::kValue,
        "gpu({}) cannot be used: no CUDA device\n"
        "  devices: 0, because {}\n"
        "  fix:  use cpu(), or run the script as it is on the CPU with SYMBIND_GPU_AS_CPU=1 in the "
        "environment, or check the driver with nvidia-smi",
        id, devices().why_none);
  check(id < count,
        "gpu({}) cannot be used: there is no such device\n"
        "  devices: {}, gpu(0) to gpu({})\n"
        "  fix:  use one of these, or cpu()",
        id, count, count - 1);
  return runtimes[static_cast<std::size_t>(id)];
}

int cuda_device_count() { return static_cast<int>(devices().runtimes.size()); }

}  // namespace symbind
