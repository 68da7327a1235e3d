// Executors in a process that was forked from one that ran them with several threads.

#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <symbind/symbind.h>

#include "base/parallel.h"

namespace symbind {
namespace {

TEST(ThreadsFork, an_executor_of_the_parent_runs_in_the_child) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "the thread sanitizer does not allow threads after a fork";
#endif
  set_num_threads(2);
  const Symbol conv = Convolution("conv", Variable("data"), {.kernel = {3, 3}, .num_filter = 32});
  const Symbol net =
      FullyConnected("fc", Activation("relu", conv, {.act_type = "relu"}), {.num_hidden = 10});
  Executor e = net.simple_bind(cpu(), {{"data", {2, 32, 12, 12}}});
  for (const NDArray& array : e.arg_arrays()) NDArray(array).set(0.01);
  const std::vector<float> ours = e.forward(true)[0].to_vector<float>();
  const NDArray head = NDArray::ones({2, 10});
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::alarm(60);  // a child that waits for its parent's threads waits for ever
    int wrong = 0;
    try {
      e.backward({head});
      wrong += 1;  // what forward left is of another plan
    } catch (const Error&) {
    }
    const std::vector<float> theirs = e.forward(true)[0].to_vector<float>();
    e.backward({head});
    for (std::size_t i = 0; i < ours.size(); ++i) {
      if (std::abs(ours[i] - theirs[i]) > 1e-4f * std::abs(ours[i])) wrong += 2;
    }
    if (e.grad_dict()["fc_bias"].to_vector<float>() != std::vector<float>(10, 2.f)) wrong += 100;
    ::_exit(wrong);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  set_num_threads(0);
  EXPECT_TRUE(WIFEXITED(status)) << "it hung";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace symbind
