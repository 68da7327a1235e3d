#pragma once
// The part of the library that talks to other processes: a plugin, libsymbind_dist.so, opened at
// the first use, because gRPC is large and most programs need none.

#include <memory>
#include <string>

#include "net/control.h"
#include "net/links.h"
#include "net/values.h"

namespace symbind::net {

/// This process in its job. Destroying it leaves the job; a process that runs the scheduler's
/// service waits for the others first.
class Session {
 public:
  virtual ~Session() = default;
  virtual Control& control() = 0;
  /// Between the workers; null for servers and asynchronous workers.
  virtual std::shared_ptr<Links> links() = 0;
  /// For asynchronous workers; else null.
  virtual std::shared_ptr<Servers> servers() = 0;
};

/// What the plugin offers. Its version is checked when it is opened.
struct Engine {
  const char* version;
  std::unique_ptr<Session> (*join)(const Job& job, bool asynchronous);
  /// Serves as scheduler until the job is over; returns why it failed, or "".
  std::string (*run_scheduler)(const Job& job);
  /// Answers workers until the job is over; returns why it failed, or "".
  std::string (*run_server)(const Job& job, const ValueHandler& handler);
};

/// Opens the plugin, once. An Error says which packages it needs.
const Engine& engine();

}  // namespace symbind::net
