#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>

#include <symbind/context.h>
#include <symbind/error.h>
#include <symbind/runtime.h>

#include "base/build.h"
#include "device/runtime.h"

namespace symbind {
namespace {

TEST(Context, prints_kind_and_number) {
  EXPECT_EQ(cpu().str(), "cpu(0)");
  EXPECT_EQ(gpu(3).str(), "gpu(3)");
  EXPECT_EQ(cpu_pinned(1).str(), "cpu_pinned(1)");
  EXPECT_EQ(cpu_shared().str(), "cpu_shared(0)");
}

TEST(Context, cpu_ids_are_distinct_devices_of_one_host) {
  EXPECT_NE(cpu(0), cpu(1));
  EXPECT_EQ(&runtime(cpu(0)), &runtime(cpu(7)));
  EXPECT_EQ(&runtime(cpu(0)), &runtime(cpu_shared(0)));
}

TEST(Context, scopes_nest_and_belong_to_their_thread) {
  EXPECT_EQ(current_context(), cpu(0));
  const ContextScope outer(cpu(1));
  {
    const ContextScope inner(cpu(2));
    EXPECT_EQ(current_context(), cpu(2));
    Context elsewhere = cpu(9);
    std::thread([&] { elsewhere = current_context(); }).join();
    EXPECT_EQ(elsewhere, cpu(0));
  }
  EXPECT_EQ(current_context(), cpu(1));
}

// In a separate process: the meaning of a GPU is fixed at its first use.
TEST(Context, gpu_contexts_that_run_on_the_cpu) {
  EXPECT_EXIT(
      {
        ::setenv("SYMBIND_GPU_AS_CPU", "2", 1);
        refresh_settings();
        const bool both = &runtime(gpu(0)) == &cpu_runtime() && &runtime(gpu(5)) == &cpu_runtime();
        const bool named = gpu(0) != gpu(1) && gpu(1).is_gpu() && !in_gpu_memory(gpu(1));
        const bool counted = num_gpus() == 2;
        ::unsetenv("SYMBIND_GPU_AS_CPU");  // too late to matter: there may be arrays
        refresh_settings();
        const bool settled = &runtime(gpu(1)) == &cpu_runtime() && num_gpus() == 1;
        std::_Exit(both && named && counted && settled ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "");
  EXPECT_TRUE(in_gpu_memory(gpu(0)));
  EXPECT_FALSE(in_gpu_memory(cpu_pinned(0)));
}

TEST(BadInputContext, gpu_in_a_cpu_build_says_why) {
  if (kCuda) GTEST_SKIP() << "this build has CUDA";
  EXPECT_EQ(num_gpus(), 0);
  try {
    runtime(gpu(0));
    FAIL();
  } catch (const Error& error) {
    const std::string text = error.what();
    EXPECT_EQ(error.kind(), ErrorKind::kValue);
    EXPECT_NE(text.find("no CUDA device"), std::string::npos) << text;
    EXPECT_NE(text.find("devices: 0"), std::string::npos) << text;
    EXPECT_NE(text.find("CPU build"), std::string::npos) << text;
    EXPECT_NE(text.find("SYMBIND_GPU_AS_CPU=1"), std::string::npos) << text;
  }
}

TEST(BadInputContext, negative_id) { EXPECT_THROW(runtime(cpu(-1)), Error); }

}  // namespace
}  // namespace symbind
