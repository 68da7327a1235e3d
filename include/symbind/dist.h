#pragma once
// A process of a distributed job: see docs/distributed.md.

#include <optional>
#include <string>

namespace symbind {

/// The exit status of a process whose job failed because another process was lost.
inline constexpr int kExitLost = 75;

/// Serves until the job is over if this process is its scheduler or a server (DMLC_ROLE), and
/// returns the status to exit with. Returns nothing at once in any other process.
std::optional<int> serve_role();

/// Leaves the job of this process, which otherwise happens at its end. With an error, the job fails
/// on all workers, and the error is part of their message.
void leave_job(const std::string& error = "");

}  // namespace symbind
