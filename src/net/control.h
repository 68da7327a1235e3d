#pragma once
// A member's view of its job: who is in it, and what all workers have said.

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "net/messages.h"

namespace symbind::net {

class Control {
 public:
  virtual ~Control() = default;
  virtual int rank() const = 0;
  /// Whether a worker of this rank was lost before, and the job continued.
  virtual bool rejoined() const = 0;
  /// Workers by rank, then servers by rank.
  virtual const std::vector<Member>& members() const = 0;
  /// Gives `part` and waits for those of all workers; returns them by rank. All workers call it
  /// with the same name.
  virtual std::vector<std::string> gather(const std::string& name, const std::string& part) = 0;
  /// What the process does, for the messages of others: the updates it has completed, and what it
  /// waits for (empty: nothing).
  virtual void report(std::int64_t updates) = 0;
  virtual void waits_for(const std::string& what) = 0;
  /// Why the job failed; no reason while it runs. Waits up to `patience` for an answer.
  virtual Failed failure(std::chrono::milliseconds patience = {}) const = 0;
  /// Calls `f` once, from another thread, when the job fails; at once if it has failed.
  virtual void on_failure(std::function<void(const std::string& reason)> f) = 0;
  /// Waits until all workers have left, or the job failed; returns why.
  virtual Failed wait_end() = 0;
  /// Leaves the job; with an error, the job fails.
  virtual void leave(const std::string& error) = 0;
};

/// Says what a thread waits for while it exists.
class Waiting {
 public:
  Waiting(Control& control, const std::string& what) : control_(control) {
    control_.waits_for(what);
  }
  ~Waiting() { control_.waits_for(""); }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

 private:
  Control& control_;
};

}  // namespace symbind::net
