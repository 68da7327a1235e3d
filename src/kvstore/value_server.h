#pragma once
// The values of one server of an asynchronous job.

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include <symbind/detail/remote_updates.h>

#include "net/values.h"

namespace symbind {

class ValueServer {
 public:
  explicit ValueServer(MakeServerUpdate make) : make_(std::move(make)) {}
  /// Answers one call; several threads may call. It waits for what worker 0 has not sent yet, until
  /// `ending` holds.
  net::ValueAnswer answer(const net::ValueCall& call, const std::function<bool()>& ending);

 private:
  using Lock = std::unique_lock<std::mutex>;
  void init(const net::ValueCall& call);
  void expect(const net::ValueCall& call, const std::function<bool()>& ending);
  void push(const net::ValueCall& call);
  void assign(const net::ValueCall& call);
  net::ValueAnswer pull(const net::ValueCall& call);
  void set_optimizer(const net::ValueCall& call);
  void await(Lock& lock, const std::function<bool()>& ending, const std::function<bool()>& there);
  NDArray& stored(const net::ValueCall& call);
  ServerUpdate& update();

  MakeServerUpdate make_;
  std::mutex guard_;  ///< of everything: an update is atomic
  std::condition_variable changed_;
  std::map<Key, NDArray> values_;
  std::optional<ServerUpdate> update_;
};

}  // namespace symbind
