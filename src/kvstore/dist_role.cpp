// The roles of processes that have no store.

#include <symbind/dist.h>

#include <cstdio>

#include "kvstore/dist_job.h"

namespace symbind {

std::optional<int> serve_role() {
  const std::optional<net::Job> job = net::job_of_environment();
  if (!job || job->role == net::Role::kWorker) return std::nullopt;
  const bool schedules = job->role == net::Role::kScheduler;
  const std::string failure =
      schedules ? net::engine().run_scheduler(*job) : net::engine().run_server(*job);
  if (failure.empty()) return 0;
  if (schedules) std::fprintf(stderr, "scheduler: the job failed: %s\n", failure.c_str());
  return kExitLost;
}

void leave_job(const std::string& error) { DistJob::leave(error); }

}  // namespace symbind
