#include "base/parallel.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/grain_for_test.h"
#include "base/settings.h"
#include "base/threads_scope.h"
#include "symbind/error.h"

namespace symbind {
namespace {

using Chunks = std::vector<std::pair<int64_t, int64_t>>;

Chunks chunks_of(int64_t n, int64_t grain) {
  Chunks seen;
  std::mutex guard;
  parallel_for(n, grain, [&](int64_t begin, int64_t end) {
    std::lock_guard lock(guard);
    seen.emplace_back(begin, end);
  });
  std::sort(seen.begin(), seen.end());
  return seen;
}

struct Threads {
  explicit Threads(int n) { set_num_threads(n); }
  ~Threads() { set_num_threads(0); }
};

TEST(Parallel, nothing_to_do) {
  EXPECT_TRUE(chunks_of(0, 1).empty());
  EXPECT_TRUE(chunks_of(-5, 1).empty());
}

TEST(Parallel, small_loops_run_in_the_caller) {
  Threads t(4);
  std::thread::id where;
  parallel_for(100, 100, [&](int64_t, int64_t) { where = std::this_thread::get_id(); });
  EXPECT_EQ(where, std::this_thread::get_id());
  EXPECT_EQ(chunks_of(100, 100), (Chunks{{0, 100}}));
}

TEST(Parallel, one_thread_makes_one_chunk) {
  Threads t(1);
  EXPECT_EQ(chunks_of(1000, 1), (Chunks{{0, 1000}}));
}

TEST(Parallel, the_number_of_threads) {
  {
    settings::override_for_test s("SYMBIND_NUM_THREADS", "7");
    EXPECT_EQ(num_threads(), 7);
    Threads t(3);
    EXPECT_EQ(num_threads(), 3);
  }
  EXPECT_EQ(num_threads(), 1);  // the tests run with OMP_NUM_THREADS=1
}

TEST(ThreadsParallel, chunks_depend_on_sizes_only) {
  Threads t(3);
  for (int again = 0; again < 20; ++again) {
    EXPECT_EQ(chunks_of(10, 1), (Chunks{{0, 4}, {4, 7}, {7, 10}}));
    EXPECT_EQ(chunks_of(10, 4), (Chunks{{0, 5}, {5, 10}}));
    EXPECT_EQ(chunks_of(10, 6), (Chunks{{0, 10}}));
    EXPECT_EQ(chunks_of(2, 0), (Chunks{{0, 1}, {1, 2}}));
  }
}

TEST(ThreadsParallel, tests_split_small_loops) {
  Threads t(3);
  {
    const GrainForTest grain(2);
    EXPECT_EQ(chunks_of(10, 100), (Chunks{{0, 4}, {4, 7}, {7, 10}}));
    EXPECT_EQ(chunks_of(5, 100), (Chunks{{0, 3}, {3, 5}}));
    EXPECT_EQ(chunks_of(3, 1), (Chunks{{0, 1}, {1, 2}, {2, 3}}));
    const GrainForTest own(0);
    EXPECT_EQ(chunks_of(10, 100), (Chunks{{0, 10}}));
  }
  EXPECT_EQ(chunks_of(10, 100), (Chunks{{0, 10}}));
}

TEST(ThreadsParallel, every_item_once) {
  for (int threads : {1, 2, 3, 8}) {
    Threads t(threads);
    for (int64_t n : {1, 2, 7, 64, 1001}) {
      std::vector<int> count(static_cast<size_t>(n), 0);
      parallel_for(n, 1, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) ++count[static_cast<size_t>(i)];
      });
      EXPECT_EQ(count, std::vector<int>(static_cast<size_t>(n), 1)) << n << " over " << threads;
    }
  }
}

TEST(ThreadsParallel, what_workers_wrote_is_seen_afterwards) {
  Threads t(2);
  std::vector<int64_t> values(1 << 14);
  for (int64_t round = 1; round <= 50; ++round) {
    parallel_for(static_cast<int64_t>(values.size()), 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) values[static_cast<size_t>(i)] += i * round;
    });
    values[0] += round;
  }
  EXPECT_EQ(values[0], 1275);
  EXPECT_EQ(values[5], 5 * 1275);
  EXPECT_EQ(values.back(), static_cast<int64_t>(values.size() - 1) * 1275);
}

TEST(ThreadsParallel, nested_loops_run_inline) {
  Threads t(2);
  std::vector<std::vector<int>> count(2, std::vector<int>(100, 0));
  parallel_for(2, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const auto here = std::this_thread::get_id();
      parallel_for(100, 1, [&](int64_t b, int64_t e) {
        EXPECT_EQ(std::this_thread::get_id(), here);
        for (int64_t j = b; j < e; ++j) ++count[static_cast<size_t>(i)][static_cast<size_t>(j)];
      });
    }
  });
  EXPECT_EQ(count, (std::vector<std::vector<int>>(2, std::vector<int>(100, 1))));
}

TEST(ThreadsParallel, the_error_of_the_lowest_chunk_reaches_the_caller) {
  Threads t(4);
  for (int again = 0; again < 10; ++again) {
    try {
      parallel_for(4, 1, [](int64_t begin, int64_t) {
        if (begin >= 1) throw Error(ErrorKind::kValue, "chunk " + std::to_string(begin));
      });
      FAIL() << "no error";
    } catch (const Error& e) {
      EXPECT_STREQ(e.what(), "chunk 1");
    }
  }
  EXPECT_EQ(chunks_of(4, 1).size(), 4u);  // and it works again
}

TEST(ThreadsParallel, several_callers_at_once) {
  std::vector<std::thread> callers;
  std::vector<int64_t> sums(4, 0);
  for (size_t c = 0; c < sums.size(); ++c)
    callers.emplace_back([&sums, c] {
      set_num_threads(2);
      std::vector<int64_t> items(1000, 0);
      for (int round = 0; round < 20; ++round)
        parallel_for(1000, 1, [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) items[static_cast<size_t>(i)] += i;
        });
      sums[c] = std::accumulate(items.begin(), items.end(), int64_t{0});
    });
  for (auto& c : callers) c.join();
  EXPECT_EQ(sums, std::vector<int64_t>(4, 20 * 499500));
}

TEST(ThreadsParallel, a_forked_child_uses_one_thread) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "the thread sanitizer does not allow threads after a fork";
#endif
  Threads t(2);
  EXPECT_EQ(chunks_of(10, 1).size(), 2u);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) ::_exit(num_threads() == 1 && chunks_of(10, 1).size() == 1 ? 0 : 1);
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

// A hundred thousand threads end the process inside OpenMP.
TEST(BadInputParallel, threads_beyond_the_limit_are_refused) {
  for (const char* many : {"100000", "2147483647", "2147483648", "4294967297", "1025"}) {
    for (const char* name : {"SYMBIND_NUM_THREADS", "MXNET_OMP_MAX_THREADS"}) {
      const settings::override_for_test s(name, many);
      EXPECT_THROW(
          {
            try {
              num_threads();
            } catch (const Error& e) {
              EXPECT_NE(std::string(e.what()).find(many), std::string::npos) << e.what();
              EXPECT_NE(std::string(e.what()).find("1024"), std::string::npos) << e.what();
              throw;
            }
          },
          Error)
          << many;
    }
  }
  EXPECT_THROW(set_num_threads(1025), Error);
  EXPECT_THROW(set_num_threads(INT_MAX), Error);
  EXPECT_THROW(ThreadsScope(100000), Error);
  EXPECT_EQ(num_threads(), 1);
  const settings::override_for_test raised("SYMBIND_LIMIT_THREADS", "2000");
  const settings::override_for_test more("SYMBIND_NUM_THREADS", "2000");
  EXPECT_EQ(num_threads(), 2000);
}

TEST(BadInputParallel, negative_thread_count) {
  EXPECT_THROW(set_num_threads(-1), Error);
  EXPECT_GE(num_threads(), 1);
}

}  // namespace
}  // namespace symbind
