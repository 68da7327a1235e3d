#pragma once
// The updates of a store whose values are in other processes, the servers of dist_async.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <symbind/detail/key.h>
#include <symbind/kvstore.h>

namespace symbind {

/// An optimizer as it is sent to servers: its class and its numbers.
struct SentOptimizer {
  std::string text;
  std::string custom = {};  ///< the name of a class that is not the library's; else empty
  bool whole = false;       ///< it needs whole arrays, so none is divided over servers
};

/// What updates the values of a server: made from a SentOptimizer.
struct ServerUpdate {
  StoreUpdate update;
  std::function<std::string()> states;
  std::function<void(const std::string& bytes)> set_states;
};
/// Makes the update of a custom class.
using MakeServerUpdate =
    std::function<ServerUpdate(const std::string& custom, const std::string& text)>;

class RemoteUpdates {
 public:
  virtual ~RemoteUpdates() = default;
  /// The part of a value that a server has: its elements from `begin` to `end`.
  struct Part {
    int server;
    std::int64_t begin, end;
  };

  /// The optimizer of worker 0 counts; others wait until the servers have it.
  virtual void set_optimizer(const SentOptimizer& optimizer) = 0;
  virtual int servers() const = 0;
  /// The parts of a key that is initialised, in the order of its elements, and its shape.
  virtual const std::vector<Part>& parts(const Key& key) const = 0;
  virtual const Shape& shape(const Key& key) const = 0;
  /// The states that a server has, as it writes them.
  virtual std::string states(int server) = 0;
  /// Gives each server its states. All workers call it; those of worker 0 count.
  virtual void set_states(const std::vector<std::string>& by_server) = 0;
};

}  // namespace symbind
