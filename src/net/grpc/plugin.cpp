// The entry of libsymbind_dist.so.

#include "base/check.h"
#include "net/engine.h"
#include "net/grpc/member.h"
#include "net/grpc/service.h"
#include "net/tcp/connect.h"
#include "net/tcp/links.h"

namespace symbind::net {
namespace {

class GrpcSession final : public Session {
 public:
  GrpcSession(const Job& job, bool asynchronous) {
    if (job.runs_scheduler) service_ = start_scheduler(job);
    const bool linked = job.role == Role::kWorker && !asynchronous;
    Listener listener;
    if (linked) listener = Listener(job.bind);
    control_ = join_job(job, listener.address(), asynchronous);
    if (!linked) return;
    std::vector<Member> workers;
    for (const Member& m : control_->members())
      if (m.role == Role::kWorker) workers.push_back(m);
    links_ = make_tcp_links(control_->rank(),
                            connect_workers(job, control_->rank(), workers, listener,
                                            [this] { return control_->failure({}).reason; }));
    control_->on_failure([links = links_](const std::string& reason) { links->cancel(reason); });
  }

  ~GrpcSession() override {
    control_->leave("");
    if (service_) service_->wait();
  }

  Control& control() override { return *control_; }
  std::shared_ptr<Links> links() override { return links_; }

 private:
  std::unique_ptr<SchedulerService> service_;
  std::unique_ptr<Control> control_;
  std::shared_ptr<Links> links_;
};

std::unique_ptr<Session> join(const Job& job, bool asynchronous) {
  return std::make_unique<GrpcSession>(job, asynchronous);
}

std::string run_scheduler(const Job& job) { return start_scheduler(job)->wait(); }

std::string run_server(const Job& job) { return join_job(job, "", false)->wait_end().reason; }

}  // namespace
}  // namespace symbind::net

extern "C" __attribute__((visibility("default"))) const symbind::net::Engine*
symbind_dist_engine() {
  static const symbind::net::Engine engine = {SYMBIND_VERSION, &symbind::net::join,
                                              &symbind::net::run_scheduler,
                                              &symbind::net::run_server};
  return &engine;
}
