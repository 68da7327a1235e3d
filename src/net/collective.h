#pragma once
// What all workers of a job compute together. Nothing here knows element types or devices: the
// caller supplies the addition, and an implementation says which memory it reaches.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace symbind::net {

/// out = in[0] + in[1] + …, in this order, over `bytes` bytes; `out` may be one of them.
using AddPieces =
    std::function<void(std::span<const std::byte* const> in, std::byte* out, std::size_t bytes)>;

/// Memory that takes part, of elements that must not be divided.
struct Buffer {
  std::byte* data = nullptr;  ///< gets the result
  std::size_t bytes = 0;
  std::size_t element = 1;
  const std::byte* from = nullptr;        ///< what this worker gives to a sum; null: `data`
  std::byte* copy = nullptr;              ///< gets the result of a sum as well, and may be `from`
  std::vector<std::size_t> parts = {};    ///< bytes of each worker in a gather; empty: equal
  std::shared_ptr<void> owner = nullptr;  ///< keeps the memory alive until the work ends
};

/// Work that was started. Dropping it does not stop the work.
class Pending {
 public:
  virtual ~Pending() = default;
  /// Waits until the buffer has its result. Ctrl-C ends the wait, not the work.
  virtual void wait() = 0;
};

class Collective {
 public:
  virtual ~Collective() = default;
  /// Identifies one piece of work: equal on all workers, different for all that is under way.
  /// At most 2^40 - 1. Work whose upper 20 bits are greater is sent first.
  using Name = std::uint64_t;
  /// The buffer becomes the sum over the workers, with equal bits on all of them and in all runs:
  /// in rank order, as far as the implementation does not say otherwise for many workers.
  virtual std::shared_ptr<Pending> start_sum(Name name, const Buffer& buffer, AddPieces add) = 0;
  /// The buffer has a part for each worker; each gives its own and gets the others'.
  virtual std::shared_ptr<Pending> start_gather(Name name, const Buffer& buffer) = 0;
  /// The buffer becomes that of worker `root`.
  virtual std::shared_ptr<Pending> start_copy(Name name, const Buffer& buffer, int root) = 0;
};

}  // namespace symbind::net
