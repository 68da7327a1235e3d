#pragma once
// Threads' shares without threads.

#include "base/grain_for_test.h"
#include "base/team.h"
#include "base/threads_scope.h"

namespace symbind {

/// While it lives, every loop of this thread that has two items or more is split as `threads`
/// threads would split it, and its shares run one after another, the last one first: what a share
/// leaves out or writes past its end shows, in the same way each time. Vendors' kernels do use that
/// many threads.
class Shares : private Team {
 public:
  explicit Shares(int threads) : threads_(threads), grain_(1), team_(this) {}

 private:
  void run(std::size_t count, const std::function<void(std::size_t)>& work) override {
    const ThreadsScope loops_inside_run_whole(1);
    for (std::size_t c = count; c-- > 0;) work(c);
  }

  ThreadsScope threads_;
  GrainForTest grain_;
  TeamScope team_;
};

}  // namespace symbind
