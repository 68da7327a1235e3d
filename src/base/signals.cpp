#include "base/signals.h"

#include <initializer_list>

#include "base/openmp.h"

namespace symbind {
namespace {

const sigset_t& blockable() {
  static const sigset_t set = [] {
    sigset_t all;
    sigfillset(&all);
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT})
      sigdelset(&all, fault);
    return all;
  }();
  return set;
}

/// The size of this thread's team if all its workers block signals; 0: not known.
thread_local int blocking_team = 0;

}  // namespace

SignalsBlocked::SignalsBlocked() { pthread_sigmask(SIG_BLOCK, &blockable(), &before_); }
SignalsBlocked::~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

void block_signals_in_worker() {
  if (omp_get_thread_num() == 0) return;
  thread_local bool blocked = false;
  if (!blocked) pthread_sigmask(SIG_BLOCK, &blockable(), nullptr);
  blocked = true;
}

void block_signals_in_workers(int threads) {
  if (threads <= 1 || threads == blocking_team || omp_in_parallel()) return;
#ifdef _OPENMP
#pragma omp parallel num_threads(threads)
#endif
  block_signals_in_worker();
  blocking_team = threads;
}

void note_region(int threads) {
  if (threads != 1 && threads != blocking_team) blocking_team = 0;
}

}  // namespace symbind
