#pragma once
// Messages between the workers of a job, by rank.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace symbind::net {

/// A message under way. Its memory must live until it ends; the destructor waits for that only
/// after an error, when nothing touches the memory any more.
class Transfer {
 public:
  virtual ~Transfer() = default;
  /// Waits until the memory may be used again. Throws if the links are cancelled or broken.
  virtual void wait() = 0;
};

class Links {
 public:
  virtual ~Links() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// A message arrives where `receive` has the same rank and tag. Any thread may call these.
  virtual std::unique_ptr<Transfer> send(int to, std::uint64_t tag, const std::byte* data,
                                         std::size_t bytes) = 0;
  virtual std::unique_ptr<Transfer> receive(int from, std::uint64_t tag, std::byte* data,
                                            std::size_t bytes) = 0;
  /// Ends every wait, now and later, with this error.
  virtual void cancel(const std::string& reason) = 0;
  /// Bytes of messages that this process has sent.
  virtual std::uint64_t bytes_sent() const = 0;
};

}  // namespace symbind::net
