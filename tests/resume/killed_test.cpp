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

constexpr int kEveryone = -1;

/// Saves in a child that is stopped at each system call, and killed when it is about to make the
/// call of this number. The calls it had begun by its end; -1 where processes cannot be traced.
int save_until(const std::string& prefix, const TrainingState& state, int call) {
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
  if (!WIFSTOPPED(status)) return -1;
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
  const bool killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
  EXPECT_EQ(killed, call != kEveryone) << status;
  return calls;
}

/// There is a set of epoch 1; a save of `epoch` is started and killed repeatedly.
void killed_on_the_way(int epoch) {
  const Folder counting;
  Checkpointer(direct(counting.prefix())).save(state_of(1, 1));
  const int total = save_until(counting.prefix(), state_of(2, epoch), kEveryone);
  if (total < 0) GTEST_SKIP() << "this system lets no process be traced";
  int old_sets = 0, new_sets = 0;
  for (int call = 0; call < total - 1; ++call) {  // the last one is the child's exit
    SCOPED_TRACE(call);
    const Folder folder;
    Checkpointer(direct(folder.prefix())).save(state_of(1, 1));
    save_until(folder.prefix(), state_of(2, epoch), call);
    (one_set_loads(folder) == 1 ? old_sets : new_sets) += 1;
  }
  EXPECT_GE(old_sets + new_sets, 20);
  EXPECT_GT(old_sets, 0);
  EXPECT_GT(new_sets, 0);
  std::printf("%d system calls: %d old sets, %d new sets\n", total, old_sets, new_sets);
}

TEST(KilledSave, beside_an_old_set) { killed_on_the_way(2); }
TEST(KilledSave, over_an_old_set) { killed_on_the_way(1); }

}  // namespace
}  // namespace symbind
