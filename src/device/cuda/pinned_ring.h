#pragma once
// Pinned host memory through which bytes go to the device while the host continues.
//
// Decided here: a few slots used in turn, each with an event after its last copy; the host waits
// only if a slot is due again before its copy has ended. Callers may reuse their own memory at
// once.

#include <cuda_runtime_api.h>

#include <cstddef>
#include <mutex>
#include <vector>

namespace symbind {

class PinnedRing {
 public:
  /// The slots are allocated at the first copy.
  PinnedRing(std::size_t slots, std::size_t slot_bytes) : slots_(slots), slot_bytes_(slot_bytes) {}
  ~PinnedRing();
  PinnedRing(const PinnedRing&) = delete;
  PinnedRing& operator=(const PinnedRing&) = delete;

  /// Enqueues the copy on `stream`, in pieces where it is larger than a slot.
  void copy(void* device, const void* host, std::size_t bytes, cudaStream_t stream);

 private:
  struct Slot {
    void* memory = nullptr;
    cudaEvent_t copied = nullptr;
  };
  Slot& next();

  std::mutex guard_;
  std::vector<Slot> slots_;
  std::size_t slot_bytes_;
  std::size_t at_ = 0;
};

}  // namespace symbind
