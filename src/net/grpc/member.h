#pragma once
// A member's stream to its scheduler.

#include <memory>
#include <string>

#include "net/control.h"

namespace symbind::net {

/// Joins the job and waits until all its processes are there. `address` is where this process
/// listens for the others.
std::unique_ptr<Control> join_job(const Job& job, const std::string& address, bool asynchronous);

}  // namespace symbind::net
