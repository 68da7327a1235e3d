// Decided here: an arena reserves as many addresses as the device has memory (it could never back
// more) and maps more memory after the mapped part, so neither pointers nor recorded work ever
// change.

#include "device/cuda/cuda_arena.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "device/cuda/cuda_error.h"
#include "device/cuda/driver_calls.h"

namespace symbind {
namespace {

constexpr std::size_t kAlignment = std::size_t{2} << 20;

constexpr std::size_t round_up(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

class CudaArena : public Arena {
 public:
  CudaArena(int device, cudaStream_t stream) : device_(device), stream_(stream) {
    kind_.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    kind_.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device};
  }

  ~CudaArena() override {
    if (base_ == nullptr) return;
    cudaSetDevice(device_);
    cudaStreamSynchronize(stream_);
    for (const Block& block : blocks_) {
      driver().unmap(block.at, block.bytes);
      driver().release(block.handle);
    }
    driver().address_free(address(), reserved_);
  }

  void grow_to(std::size_t bytes) override {
    if (bytes <= capacity_) return;
    check_cuda(cudaSetDevice(device_), "cudaSetDevice");
    if (base_ == nullptr) reserve(bytes);
    const std::size_t target = round_up(bytes, unit_);
    if (target > reserved_) fail_device_memory(bytes - capacity_, "arena", device_);
    blocks_.reserve(blocks_.size() + 1);
    blocks_.push_back(back(address() + capacity_, target - capacity_));
    capacity_ = target;
  }

 private:
  struct Block {
    CUdeviceptr at;
    std::size_t bytes;
    CUmemGenericAllocationHandle handle;
  };

  CUdeviceptr address() const { return reinterpret_cast<CUdeviceptr>(base_); }

  void reserve(std::size_t least) {
    std::size_t free = 0, total = 0;
    check_cuda(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
    if (least > total) fail_device_memory(least, "arena", device_);
    check_cuda(driver().granularity(&unit_, &kind_, CU_MEM_ALLOC_GRANULARITY_MINIMUM),
               "cuMemGetAllocationGranularity");
    unit_ = std::max(unit_, kAlignment);
    const std::size_t wanted = round_up(total, unit_);
    CUdeviceptr start = 0;
    check_cuda(driver().address_reserve(&start, wanted, kAlignment, 0, 0), "cuMemAddressReserve");
    base_ = reinterpret_cast<void*>(start);
    reserved_ = wanted;
  }

  Block back(CUdeviceptr at, std::size_t bytes) {
    CUmemGenericAllocationHandle handle = 0;
    const CUresult made = driver().create(&handle, bytes, &kind_, 0);
    if (made == CUDA_ERROR_OUT_OF_MEMORY) fail_device_memory(bytes, "arena", device_);
    check_cuda(made, "cuMemCreate");
    CUresult status = driver().map(at, bytes, 0, handle, 0);
    const char* call = "cuMemMap";
    if (status == CUDA_SUCCESS) {
      const CUmemAccessDesc access{kind_.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
      status = driver().set_access(at, bytes, &access, 1);
      call = "cuMemSetAccess";
      if (status != CUDA_SUCCESS) driver().unmap(at, bytes);
    }
    if (status != CUDA_SUCCESS) driver().release(handle);
    check_cuda(status, call);
    return {at, bytes, handle};
  }

  int device_;
  cudaStream_t stream_;
  CUmemAllocationProp kind_{};
  std::size_t unit_ = kAlignment;
  std::size_t reserved_ = 0;
  std::vector<Block> blocks_;
};

}  // namespace

std::unique_ptr<Arena> make_cuda_arena(int device, cudaStream_t stream) {
  return std::make_unique<CudaArena>(device, stream);
}

}  // namespace symbind
