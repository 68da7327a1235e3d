#pragma once
// Stopping the work of the library from outside.

#include <symbind/error.h>

namespace symbind {

/// Thrown where work was asked to stop. It is no error of what was being computed: nothing keeps
/// it for later, and arrays that were being written stay readable, partly written.
class Interrupted : public Error {
 public:
  Interrupted() : Error(ErrorKind::kState, "interrupted") {}
};

/// Says whether the work of the calling thread shall stop.
using InterruptCheck = bool (*)();

/// Installs a check that long work asks: between the steps of an executor and within a large
/// product, at most every 50 ms in each thread. Null removes it.
void set_interrupt_check(InterruptCheck check);

}  // namespace symbind
