#pragma once
// Threads that loops may run on instead of OpenMP's. OpenMP's threads spin for a while after each
// loop; that takes cores away from other threads that compute.

#include <cstddef>
#include <functional>

namespace symbind {

class Team {
 public:
  virtual ~Team() = default;
  /// Calls work(0) … work(count - 1) and waits for all.
  virtual void run(std::size_t count, const std::function<void(std::size_t)>& work) = 0;
};

/// During its lifetime, loops started by this thread run on `team`; null changes nothing.
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
