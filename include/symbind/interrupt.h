#pragma once
// Interrupting the library's work.

#include <symbind/error.h>

namespace symbind {

/// Thrown when work is interrupted. It is not an operator error: it is not stored for a later wait,
/// and arrays that were being written stay readable, partly written.
class Interrupted : public Error {
 public:
  Interrupted() : Error(ErrorKind::kState, "interrupted") {}
};

/// Returns whether the calling thread must stop.
using InterruptCheck = bool (*)();

/// Installs a check that long work calls: between the steps of an executor and within a large
/// product, at most every 50 ms in each thread. Null removes it.
void set_interrupt_check(InterruptCheck check);

}  // namespace symbind
