#include "device/cuda/pinned_ring.h"

#include <algorithm>
#include <cstring>

#include "device/cuda/cuda_error.h"

namespace symbind {

PinnedRing::~PinnedRing() {
  for (const Slot& slot : slots_) {
    if (slot.copied != nullptr) {
      cudaEventSynchronize(slot.copied);
      cudaEventDestroy(slot.copied);
    }
    if (slot.memory != nullptr) cudaFreeHost(slot.memory);
  }
}

PinnedRing::Slot& PinnedRing::next() {
  Slot& slot = slots_[at_];
  at_ = (at_ + 1) % slots_.size();
  if (slot.memory == nullptr)
    check_cuda(cudaMallocHost(&slot.memory, slot_bytes_), "cudaMallocHost");
  if (slot.copied == nullptr)
    check_cuda(cudaEventCreateWithFlags(&slot.copied, cudaEventDisableTiming),
               "cudaEventCreateWithFlags");
  else
    check_cuda(cudaEventSynchronize(slot.copied), "cudaEventSynchronize");
  return slot;
}

void PinnedRing::copy(void* device, const void* host, std::size_t bytes, cudaStream_t stream) {
  const std::lock_guard lock(guard_);
  for (std::size_t done = 0; done < bytes; done += slot_bytes_) {
    const std::size_t now = std::min(slot_bytes_, bytes - done);
    const Slot& slot = next();
    std::memcpy(slot.memory, static_cast<const std::byte*>(host) + done, now);
    check_cuda(cudaMemcpyAsync(static_cast<std::byte*>(device) + done, slot.memory, now,
                               cudaMemcpyHostToDevice, stream),
               "cudaMemcpyAsync");
    check_cuda(cudaEventRecord(slot.copied, stream), "cudaEventRecord");
  }
}

}  // namespace symbind
