#pragma once
// Values on servers: what asynchronous workers ask, and what a server answers.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "net/collective.h"

namespace symbind::net {

struct ValueCall {
  enum class Verb : std::uint32_t {
    kInit,            ///< gives a key its first value
    kExpect,          ///< waits until the key has one, which must be of this type and shape
    kPush,            ///< `text`: how the bytes are compressed; empty: they are not
    kPull,            ///< answered with the bytes of the value
    kAssign,          ///< replaces the value
    kSetOptimizer,    ///< `key`: who makes it; `text`: what it is made from
    kAwaitOptimizer,  ///< waits until there is one
    kStates,          ///< answered with the optimizer's states as text
    kSetStates,
    kLast = kSetStates
  };
  Verb verb = Verb::kPull;
  int worker = 0;
  bool rejoined = false;  ///< the worker was lost before: what it sends first is there already
  std::string key, text;
  int dtype = 0;  ///< of the array: the library's number of the type
  std::vector<std::int64_t> shape;
  std::span<const std::byte> bytes;
  std::shared_ptr<void> owner;  ///< keeps the bytes alive
};

struct ValueAnswer {
  std::string text;
  std::span<const std::byte> bytes;
  std::shared_ptr<void> owner;
};

/// Answers a worker, or throws an Error, which the worker gets. Several threads may call it at
/// once, and it may block until `ending` holds.
using ValueHandler =
    std::function<ValueAnswer(const ValueCall&, const std::function<bool()>& ending)>;

/// A question under way. wait() throws if the server is lost.
class Asked : public Pending {
 public:
  /// The text of the answer, after wait(). Throws the Error that the server answered with.
  virtual const std::string& text() const = 0;
};

/// The servers of a job, for a worker.
class Servers {
 public:
  virtual ~Servers() = default;
  virtual int count() const = 0;
  /// Asks a server. It answers the questions of one worker in their order. The bytes of the answer
  /// go to `into`, which has their size and lives as long as `owner`.
  virtual std::shared_ptr<Asked> start(int server, ValueCall call, std::span<std::byte> into = {},
                                       std::shared_ptr<void> owner = {}) = 0;
  /// Ends every wait, now and later, with this error.
  virtual void cancel(const std::string& reason) = 0;
};

}  // namespace symbind::net
