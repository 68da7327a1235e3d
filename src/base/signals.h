// Code that a signal must not interrupt.
//
// oneDNN's matrix products point the stack register at memory of the heap (issue 4845 of oneDNN, in
// every version before 2026). A signal handler that runs then writes its frame below that address:
// it corrupts the heap. So such code runs with signals blocked. Faults (SIGSEGV, …) always arrive.
#pragma once

#include <csignal>

namespace symbind {

/// During its lifetime no signal interrupts this thread; what arrives waits.
class SignalsBlocked {
 public:
  SignalsBlocked();
  ~SignalsBlocked();
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

/// Called inside an OpenMP region: a thread that OpenMP started blocks signals from now on, so that
/// they arrive at threads of the user.
void block_signals_in_worker();

/// Blocks signals in the threads that OpenMP gives the calling thread for a region of `threads`,
/// for as long as they live. Without it a signal that one thread blocks interrupts another. Cheap
/// unless the workers are new.
void block_signals_in_workers(int threads);
/// This thread runs a region of `threads` (0: of some number). OpenMP ends and starts workers when
/// the number changes.
void note_region(int threads);

}  // namespace symbind
