// Trainings in separate processes, killed by SIGKILL and resumed in new ones, with one and two
// threads: SHA-256 of the .params and .states files.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include "resume/trainings.h"

namespace symbind {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// The training of a child process; its options are environment variables.
TEST(Child, DISABLED_trains) {
  const std::string folder = variable("RESUME_FOLDER"), kill = variable("RESUME_KILL");
  seed(42);
  Module module(dropout_net(), {.context = cpus(2)});
  const auto rows = shuffled_rows();
  FitOptions o = dropout_fit(variable("RESUME_OPTIMIZER"), 3);
  if (variable("RESUME_SAVE") == "1")
    o.checkpoint =
        CheckpointOptions{.prefix = folder + "/model", .every_n_batches = 4, .background = false};
  o.resume = variable("RESUME_FROM");
  o.batch_end_callback = {Speedometer(8, 5), [&](const BatchEndParam& p) {
                            if (kill == std::to_string(p.epoch) + "," + std::to_string(p.nbatch))
                              ::kill(::getpid(), SIGKILL);
                          }};
  module.fit(*rows, o);
  module.save_params(folder + "/end.params");
  module.save_optimizer_states(folder + "/end.states");
}

/// Runs the test above in a new process; how it ended.
int run_child(const Folder& folder, const std::string& optimizer, int threads, bool save,
              const std::string& kill, const std::string& from) {
  const ::pid_t child = ::fork();
  if (child == 0) {
    ::setenv("RESUME_FOLDER", folder.path.c_str(), 1);
    ::setenv("RESUME_OPTIMIZER", optimizer.c_str(), 1);
    ::setenv("RESUME_SAVE", save ? "1" : "0", 1);
    ::setenv("RESUME_KILL", kill.c_str(), 1);
    ::setenv("RESUME_FROM", from.c_str(), 1);
    ::setenv("OMP_NUM_THREADS", std::to_string(threads).c_str(), 1);
    ::execl("/proc/self/exe", "tests_resume", "--gtest_filter=Child.DISABLED_trains",
            "--gtest_also_run_disabled_tests", nullptr);
    ::_exit(127);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

std::string ends(const Folder& folder) {
  return file_hash(folder.path + "/end.params") + " " + file_hash(folder.path + "/end.states");
}

void killed_and_resumed(int threads) {
  for (const char* optimizer : {"sgd", "adam"}) {
    const Folder whole;
    ASSERT_EQ(run_child(whole, optimizer, threads, false, "", ""), 0);
    // Mid-epoch; and after the first batch of an epoch, with the checkpoint of the epoch's start.
    for (const char* kill : {"1,8", "2,0"}) {
      const Folder cut;
      ASSERT_EQ(run_child(cut, optimizer, threads, true, kill, ""), -SIGKILL);
      ASSERT_EQ(run_child(cut, optimizer, threads, true, "", cut.prefix()), 0);
      EXPECT_EQ(ends(cut), ends(whole)) << optimizer << " " << kill;
      EXPECT_EQ(file_hash(cut.prefix() + "-0003.params"), file_hash(cut.path + "/end.params"));
      EXPECT_EQ(file_hash(cut.prefix() + "-0003.states"), file_hash(cut.path + "/end.states"));
    }
  }
}

TEST(Resume, killed_and_resumed_in_a_new_process) { killed_and_resumed(1); }
TEST(SlowResume, killed_and_resumed_with_two_threads) { killed_and_resumed(2); }

}  // namespace
}  // namespace symbind
