#pragma once
// Threads that loops may run on instead of OpenMP's. OpenMP's spin for a while behind each loop,
// waiting for more; beside other threads that compute, that takes their cores away.

#include <cstddef>
#include <functional>

namespace symbind {

class Team {
 public:
  virtual ~Team() = default;
  /// Calls work(0) … work(count - 1) and waits for all.
  virtual void run(std::size_t count, const std::function<void(std::size_t)>& work) = 0;
};

/// While it lives, loops started by this thread run on `team`; null changes nothing.
class TeamScope {
 public:
  explicit TeamScope(Team* team);
  ~TeamScope();
  TeamScope(const TeamScope&) = delete;
  TeamScope& operator=(const TeamScope&) = delete;

 private:
  Team* before_;
};

}  // namespace symbind
