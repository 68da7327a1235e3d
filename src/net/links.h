#pragma once
// Messages between the workers of a job, by rank.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace symbind::net {

class Links {
 public:
  virtual ~Links() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// Called once, when nothing uses the memory of a message any more: with "", or with the reason
  /// why the message failed. Any thread may call it, also before `send` or `receive` returns; it
  /// must neither wait nor throw, and may send and receive.
  using Ended = std::function<void(const std::string& error)>;
  /// The upper bits of a tag: of the messages that wait to be sent to a worker, those with a
  /// greater urgency go first.
  static constexpr int kUrgencyShift = 44;
  static std::uint64_t urgency(std::uint64_t tag) { return tag >> kUrgencyShift; }
  /// A message arrives where `receive` has the same rank and tag. Any thread may call these.
  virtual void send(int to, std::uint64_t tag, const std::byte* data, std::size_t bytes,
                    Ended ended) = 0;
  virtual void receive(int from, std::uint64_t tag, std::byte* data, std::size_t bytes,
                       Ended ended) = 0;
  /// Ends every message, now and later, with this error.
  virtual void cancel(const std::string& reason) = 0;
  /// Bytes of messages that this process has sent.
  virtual std::uint64_t bytes_sent() const = 0;
};

}  // namespace symbind::net
