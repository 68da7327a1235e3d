#pragma once
// A process of a distributed job: see docs/distributed.md.

#include <optional>
#include <string>

#include <symbind/detail/remote_updates.h>

namespace symbind {

/// The exit status of a process whose job failed because another process was lost.
inline constexpr int kExitLost = 75;

/// Serves until the job is over if this process is its scheduler or a server (DMLC_ROLE), and
/// returns the status to exit with. Returns nothing at once in any other process. On a server of
/// dist_async, `custom` is called first; what it returns makes optimizers that are neither the
/// library's nor registered.
std::optional<int> serve_role(const std::function<MakeServerUpdate()>& custom = {});

/// Leaves the job of this process, which otherwise happens at its end. With an error, the job fails
/// on all workers, and the error is part of their message.
void leave_job(const std::string& error = "");

}  // namespace symbind
