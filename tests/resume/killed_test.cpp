// A save killed by SIGKILL before each of its system calls, whichever they are: the kernel counts
// them, by ptrace. The old set or the new one loads then, never a mix.

#include <gtest/gtest.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>

#include "resume/sets.h"

namespace symbind {
namespace {

enum class Ended { kKilled, kByItself, kNotTraced };

/// Saves in a child that is stopped at each system call, and killed when it is about to make the
/// call of this number. How the child ended.
Ended save_until(const std::string& prefix, const TrainingState& state, int call) {
  const ::pid_t child = ::fork();
  if (child == 0) {
    Checkpointer saver(direct(prefix));
    if (::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) ::_exit(3);
    ::raise(SIGSTOP);
    saver.save(state);
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  if (!WIFSTOPPED(status)) return Ended::kNotTraced;
  ::ptrace(PTRACE_SETOPTIONS, child, nullptr, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
  constexpr int kCallStop = SIGTRAP | 0x80;
  int calls = 0, signal = 0;
  for (bool inside = false; WIFSTOPPED(status);) {
    ::ptrace(PTRACE_SYSCALL, child, nullptr, signal);
    ::waitpid(child, &status, 0);
    if (!WIFSTOPPED(status)) break;
    signal = WSTOPSIG(status) == kCallStop ? 0 : WSTOPSIG(status);
    if (signal != 0) continue;
    inside = !inside;
    if (!inside) continue;
    if (calls == call) ::kill(child, SIGKILL);
    ++calls;
  }
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) return Ended::kKilled;
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  return Ended::kByItself;
}

/// There is a set of epoch 1; a save of `epoch` is killed before its first call, its second, …,
/// until it ends before the call is reached. How many calls it makes may differ between two saves.
void killed_on_the_way(int epoch) {
  int old_sets = 0, new_sets = 0;
  for (int call = 0; call < 10000; ++call) {
    SCOPED_TRACE(call);
    const Folder folder;
    Checkpointer(direct(folder.prefix())).save(state_of(1, 1));
    const Ended ended = save_until(folder.prefix(), state_of(2, epoch), call);
    if (ended == Ended::kNotTraced) GTEST_SKIP() << "this system lets no process be traced";
    const bool is_new = one_set_loads(folder) != 1;
    (is_new ? new_sets : old_sets) += 1;
    if (ended == Ended::kKilled) continue;
    EXPECT_TRUE(is_new);
    break;
  }
  EXPECT_GE(old_sets + new_sets, 20);
  EXPECT_GT(old_sets, 0);
  EXPECT_GT(new_sets, 1);
  std::printf("%d old sets, %d new sets\n", old_sets, new_sets);
}

TEST(KilledSave, beside_an_old_set) { killed_on_the_way(2); }
TEST(KilledSave, over_an_old_set) { killed_on_the_way(1); }

}  // namespace
}  // namespace symbind
