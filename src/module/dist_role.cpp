// The roles of processes that have no store.

#include <symbind/dist.h>

#include <cstdio>

#include <symbind/detail/remote_states.h>

#include "kvstore/dist_job.h"
#include "kvstore/value_server.h"

namespace symbind {

std::optional<int> serve_role(const std::function<MakeServerUpdate()>& custom) {
  const std::optional<net::Job> job = net::job_of_environment();
  if (!job || job->role == net::Role::kWorker) return std::nullopt;
  const bool schedules = job->role == net::Role::kScheduler;
  const MakeServerUpdate make = custom && !schedules ? custom() : MakeServerUpdate();
  ValueServer server([&](const std::string& name, const std::string& text) {
    return make_server_update(make, name, text);
  });
  const auto answer = [&](const net::ValueCall& call, const std::function<bool()>& ending) {
    return server.answer(call, ending);
  };
  try {
    const std::string failure =
        schedules ? net::engine().run_scheduler(*job) : net::engine().run_server(*job, answer);
    if (failure.empty()) return 0;
    if (schedules) std::fprintf(stderr, "scheduler: the job failed: %s\n", failure.c_str());
    return kExitLost;
  } catch (const Error& e) {  // it never belonged to the job
    std::fprintf(stderr, "%s: %s\n", role_name(job->role), e.what());
    return 1;
  }
}

void leave_job(const std::string& error) { DistJob::leave(error); }

}  // namespace symbind
