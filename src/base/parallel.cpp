#include "base/parallel.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <climits>
#include <exception>
#include <mutex>

#include "base/check.h"
#include "base/grain_for_test.h"
#include "base/limits.h"
#include "base/openmp.h"
#include "base/settings.h"
#include "base/signals.h"
#include "base/team.h"
#include "base/threads_scope.h"

namespace symbind {
namespace {

// A forked child has none of its parent's threads, and libgomp would wait for them forever.
std::atomic<bool> forked{false};

void after_fork_in_child() {
  forked.store(true, std::memory_order_relaxed);
  omp_set_num_threads(1);
}

// When the library is loaded: oneDNN may start threads before any of our loops does.
__attribute__((constructor)) void watch_forks() {
  pthread_atfork(nullptr, nullptr, after_fork_in_child);
}

thread_local int chosen_threads = 0;  // 0: the setting decides
thread_local int openmp_threads = 1;  // what OpenMP gave before one was chosen
thread_local Team* current_team = nullptr;
thread_local int64_t most_grain = INT64_MAX;  // less only in tests

struct Job {
  detail::RangeFunction function;
  void* closure;
  int64_t n;
  int64_t chunks;
  // OpenMP synchronises the start and the end of a region; these two calls tell that to the thread
  // sanitizer, which does not see inside libgomp.
  std::atomic<int> started{0};
  std::atomic<int64_t> finished{0};
  std::mutex guard;
  int64_t failed_chunk = -1;
  std::exception_ptr error;
};

void run_chunk(Job& job, int64_t chunk) noexcept {
  job.started.load(std::memory_order_acquire);
  // The first n % chunks chunks are one item longer.
  const int64_t size = job.n / job.chunks;
  const int64_t longer = job.n % job.chunks;
  const int64_t begin = chunk * size + std::min(chunk, longer);
  const int64_t end = begin + size + (chunk < longer ? 1 : 0);
  try {
    job.function(job.closure, begin, end);
  } catch (...) {
    std::lock_guard lock(job.guard);
    if (job.failed_chunk < 0 || chunk < job.failed_chunk) {
      job.failed_chunk = chunk;
      job.error = std::current_exception();
    }
  }
  job.finished.fetch_add(1, std::memory_order_acq_rel);
}

__attribute__((noinline, no_sanitize("thread"))) void run_region(Job* job, int threads) {
#ifdef _OPENMP
#pragma omp parallel num_threads(threads) default(none) shared(job)
#else
  static_cast<void>(threads);
#endif
  {
    block_signals_in_worker();
    // OpenMP may start fewer threads than requested: the chunks do not change.
    for (int64_t c = omp_get_thread_num(); c < job->chunks; c += omp_get_num_threads())
      run_chunk(*job, c);
  }
}

}  // namespace

bool is_forked_child() { return forked.load(std::memory_order_relaxed); }

int num_threads() {
  if (is_forked_child()) return 1;
  if (chosen_threads > 0) return chosen_threads;
  thread_local std::uint64_t asked_at = 0;  // a stamp; settings are read again if it changes
  thread_local int wanted = -1;
  thread_local int most = 1;
  if (const std::uint64_t now = settings::stamp(); wanted < 0 || now != asked_at) {
    const std::int64_t allowed = std::min<std::int64_t>(limit(Limit::kThreads), INT_MAX);
    wanted = static_cast<int>(settings::number("SYMBIND_NUM_THREADS", INT_MIN, allowed));
    most = static_cast<int>(std::max<std::int64_t>(allowed, 1));
    asked_at = now;
  }
  return wanted > 0 ? wanted : std::clamp(omp_get_max_threads(), 1, most);
}

void set_num_threads(int count) {
  check(count >= 0, "[set_num_threads] the number of threads is {}; it must not be negative",
        count);
  check_limit(Limit::kThreads, count, "set_num_threads");
  if (chosen_threads == 0) openmp_threads = omp_get_max_threads();
  chosen_threads = count;
  omp_set_num_threads(count > 0 ? num_threads() : openmp_threads);
}

// OpenMP's own number is unchanged: callers of a vendor's function hold a VendorThreads.
ThreadsScope::ThreadsScope(int count) : before_(chosen_threads) {
  check(count >= 0, "the number of threads is {}; it must not be negative", count);
  check_limit(Limit::kThreads, count, "a scope");
  if (count > 0) chosen_threads = count;
}

ThreadsScope::~ThreadsScope() { chosen_threads = before_; }

TeamScope::TeamScope(Team* team) : before_(current_team) {
  if (team) current_team = team;
}

TeamScope::~TeamScope() { current_team = before_; }

GrainForTest::GrainForTest(int64_t most) : before_(most_grain) {
  most_grain = most > 0 ? most : INT64_MAX;
}

GrainForTest::~GrainForTest() { most_grain = before_; }

VendorThreads::VendorThreads(int count) : before_(omp_get_max_threads()) {
  if (count != before_) omp_set_num_threads(count);
}

int VendorThreads::current() { return omp_get_max_threads(); }

VendorThreads::~VendorThreads() {
  if (omp_get_max_threads() != before_) omp_set_num_threads(before_);
}

void detail::parallel_for(int64_t n, int64_t grain, RangeFunction function, void* closure) {
  if (n <= 0) return;
  grain = std::clamp<int64_t>(grain, 1, most_grain);
  if (n <= grain || omp_in_parallel()) return function(closure, 0, n);
  const int threads = num_threads();
  const int64_t chunks = std::min<int64_t>(threads, n / grain);
  if (chunks <= 1) return function(closure, 0, n);

  Job job;
  job.function = function;
  job.closure = closure;
  job.n = n;
  job.chunks = chunks;
  job.started.store(1, std::memory_order_release);
  if (current_team) {
    current_team->run(static_cast<std::size_t>(chunks),
                      [&job](std::size_t c) { run_chunk(job, static_cast<int64_t>(c)); });
    if (job.error) std::rethrow_exception(job.error);
    return;
  }
  // Always use all threads, even for fewer chunks: libgomp ends and restarts threads when the size
  // of its team changes.
  note_region(threads);
  run_region(&job, threads);
  job.finished.load(std::memory_order_acquire);
  if (job.error) std::rethrow_exception(job.error);
}

}  // namespace symbind
