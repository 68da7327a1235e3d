// Loops over CPU threads. One OpenMP runtime serves our loops, OpenBLAS and oneDNN.
//
// Decided here: the split is static and depends on n, grain and the thread count only, so equal
// thread counts give equal bits; a nested call runs inline; an exception thrown by any chunk is
// rethrown in the caller (the one of the lowest chunk).
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

namespace symbind {

/// Threads one loop may use: set_num_threads, else SYMBIND_NUM_THREADS, else what OpenMP gives.
int num_threads();

/// Sets it for loops started by this thread; 0 returns to the setting.
void set_num_threads(int count);

/// Whether this process was forked from one that had loaded us. Kernels prepared before the fork
/// must not run: vendors' kernels still request the parent's number of threads, and libgomp would
/// wait for them.
bool is_forked_child();

/// During its lifetime, OpenBLAS and oneDNN called by this thread use this many threads. Cheap: an
/// executor makes one for each run.
class VendorThreads {
 public:
  explicit VendorThreads(int count = num_threads());
  /// How many they use now.
  static int current();
  ~VendorThreads();
  VendorThreads(const VendorThreads&) = delete;
  VendorThreads& operator=(const VendorThreads&) = delete;

 private:
  int before_;
};

namespace detail {
using RangeFunction = void (*)(void* closure, int64_t begin, int64_t end);
void parallel_for(int64_t n, int64_t grain, RangeFunction function, void* closure);
}  // namespace detail

/// Calls f(begin, end) over [0, n) in chunks of at least `grain` items where there are that many.
template <class F>
void parallel_for(int64_t n, int64_t grain, F&& f) {
  using Closure = std::remove_reference_t<F>;
  detail::parallel_for(
      n, grain,
      [](void* closure, int64_t begin, int64_t end) {
        (*static_cast<Closure*>(closure))(begin, end);
      },
      const_cast<void*>(static_cast<const void*>(&f)));
}

}  // namespace symbind
