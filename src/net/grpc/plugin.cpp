// The entry of libsymbind_dist.so.

#include "base/check.h"
#include "net/engine.h"
#include "net/grpc/member.h"
#include "net/grpc/service.h"
#include "net/tcp/connect.h"
#include "net/tcp/links.h"
#include "net/tcp/values.h"

namespace symbind::net {
namespace {

class GrpcSession final : public Session {
 public:
  GrpcSession(const Job& job, bool asynchronous) {
    if (job.runs_scheduler) service_ = start_scheduler(job);
    Listener listener;
    if (!asynchronous) listener = Listener(job.bind);
    control_ = join_job(job, listener.address(), asynchronous);
    std::vector<Member> workers, servers;
    for (const Member& m : control_->members())
      (m.role == Role::kWorker ? workers : servers).push_back(m);
    if (asynchronous) {
      servers_ = connect_servers(job, control_->rank(), servers);
      control_->on_failure([all = servers_](const std::string& reason) { all->cancel(reason); });
      return;
    }
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
  std::shared_ptr<Servers> servers() override { return servers_; }

 private:
  std::unique_ptr<SchedulerService> service_;
  std::unique_ptr<Control> control_;
  std::shared_ptr<Links> links_;
  std::shared_ptr<Servers> servers_;
};

std::unique_ptr<Session> join(const Job& job, bool asynchronous) {
  return std::make_unique<GrpcSession>(job, asynchronous);
}

std::string run_scheduler(const Job& job) { return start_scheduler(job)->wait(); }

std::string run_server(const Job& job, const ValueHandler& handler) {
  const auto service = make_value_service(job, handler);
  const auto control = join_job(job, service->address(), false);
  service->start(control->rank());
  return control->wait_end().reason;
}

}  // namespace
}  // namespace symbind::net

extern "C" __attribute__((visibility("default"))) const symbind::net::Engine*
symbind_dist_engine() {
  static const symbind::net::Engine engine = {SYMBIND_VERSION, &symbind::net::join,
                                              &symbind::net::run_scheduler,
                                              &symbind::net::run_server};
  return &engine;
}
