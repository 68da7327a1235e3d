// Decided here: a connection that has not joined hears nothing but its challenge, and is closed
// after kProofTime. One mutex orders what all members say.

#include "net/grpc/service.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "base/check.h"
#include "base/signals.h"
#include "net/grpc/convert.h"
#include "net/grpc/credentials.h"
#include "net/scheduler.h"

namespace symbind::net {
namespace {

using Clock = std::chrono::steady_clock;
constexpr double kProofTime = 5;
constexpr auto kEndTime = std::chrono::milliseconds(500);  // for the last answers to arrive

double seconds_now() {
  return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

class Service;

/// One connection. gRPC calls it from its own threads; it lives until both are done with it.
class Attendance final : public grpc::ServerBidiReactor<dist::FromMember, dist::ToMember> {
 public:
  Attendance(std::shared_ptr<Service> service, int number);
  void begin();
  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnDone() override;
  void OnCancel() override {}

  // With the service's mutex held.
  void say(dist::ToMember message);
  void close();

  const int number;
  const Proof challenge = random_nonce();
  const double since = seconds_now();
  bool joined = false;
  std::string nonce;

 private:
  std::shared_ptr<Service> service_;
  dist::FromMember in_;
  std::deque<dist::ToMember> out_;
  bool closing_ = false, finished_ = false;
};

class Service final : public dist::Scheduler::CallbackService,
                      public std::enable_shared_from_this<Service> {
 public:
  explicit Service(const Job& job) : job_(job), scheduler_(job) {}

  grpc::ServerBidiReactor<dist::FromMember, dist::ToMember>* Attend(
      grpc::CallbackServerContext*) override {
    std::unique_lock lock(guard);
    const int number = next_++;
    auto* attendance = new Attendance(shared_from_this(), number);
    attendances_[number] = attendance;
    lock.unlock();
    attendance->begin();
    return attendance;
  }

  void hear(Attendance& from, const dist::FromMember& message) {
    if (!from.joined) return admit(from, message);
    if (const auto decoded = decode(message))
      answer(scheduler_.hear(from.number, *decoded, seconds_now()));
  }

  void closed(Attendance& from) {
    if (from.joined) answer(scheduler_.closed(from.number, seconds_now()));
    attendances_.erase(from.number);
  }

  void tick(bool beat) {
    const double now = seconds_now();
    answer(scheduler_.tick(now));
    if (beat) answer(scheduler_.beat(now));
    for (const auto& [number, a] : attendances_)
      if (!a->joined && now - a->since > kProofTime) a->close();
  }

  bool is_over() const { return scheduler_.is_over(); }
  std::string failure() const { return scheduler_.failure(); }

  std::mutex guard;

 private:
  void admit(Attendance& from, const dist::FromMember& message) {
    Proof given{};
    const std::string& proof = message.join().proof();
    std::copy_n(proof.begin(), std::min(proof.size(), given.size()), given.begin());
    const bool knows =
        message.has_join() && message.join().nonce().size() == kProofBytes &&
        same_proof(given,
                   proof_of(job_.token, join_text(bytes_of(from.challenge), message.join())));
    if (!knows) {
      from.say(
          encode(ToMember(Failed{"the process does not know the job's token "
                                 "(SYMBIND_DIST_TOKEN, SYMBIND_DIST_TOKEN_FILE)"})));
      return from.close();
    }
    from.joined = true;
    from.nonce = message.join().nonce();
    answer(scheduler_.hear(from.number, *decode(message), seconds_now()));
  }

  void answer(const Scheduler::Answers& answers) {
    for (const auto& [number, message] : answers) {
      const auto it = attendances_.find(number);
      if (it == attendances_.end()) continue;
      dist::ToMember encoded = encode(message);
      if (encoded.has_welcome())
        encoded.mutable_welcome()->set_proof(std::string(bytes_of(proof_of(
            job_.token, welcome_text(bytes_of(it->second->challenge), it->second->nonce)))));
      it->second->say(std::move(encoded));
    }
  }

  Job job_;
  net::Scheduler scheduler_;
  std::map<int, Attendance*> attendances_;
  int next_ = 0;
};

Attendance::Attendance(std::shared_ptr<Service> service, int n)
    : number(n), service_(std::move(service)) {}

void Attendance::begin() {
  const std::lock_guard lock(service_->guard);
  dist::ToMember first;
  first.mutable_challenge()->set_nonce(std::string(bytes_of(challenge)));
  say(std::move(first));
  StartRead(&in_);
}

void Attendance::OnReadDone(bool ok) {
  const std::lock_guard lock(service_->guard);
  if (!ok) return close();
  try {
    service_->hear(*this, in_);
  } catch (const std::exception&) {  // out of memory
    return close();
  }
  if (!closing_) StartRead(&in_);
}

void Attendance::say(dist::ToMember message) {
  if (closing_) return;
  out_.push_back(std::move(message));
  if (out_.size() == 1) StartWrite(&out_.front());
}

void Attendance::OnWriteDone(bool ok) {
  const std::lock_guard lock(service_->guard);
  out_.pop_front();
  if (!ok) {
    out_.clear();
    closing_ = true;
  }
  if (!out_.empty()) return StartWrite(&out_.front());
  if (closing_ && !std::exchange(finished_, true)) Finish(grpc::Status::OK);
}

void Attendance::close() {
  closing_ = true;
  if (out_.empty() && !std::exchange(finished_, true)) Finish(grpc::Status::OK);
}

void Attendance::OnDone() {
  {
    const std::lock_guard lock(service_->guard);
    service_->closed(*this);
  }
  delete this;
}

class RunningService final : public SchedulerService {
 public:
  explicit RunningService(const Job& job) : service_(std::make_shared<Service>(job)), job_(job) {
    const SignalsBlocked within;  // gRPC's threads inherit this
    grpc::ServerBuilder builder;
    int port = 0;
    Job at = job;
    at.host = job.bind;
    if (is_loopback(job.host)) at.host = job.host;
    builder.AddListeningPort(at.scheduler_address(), server_credentials(job), &port);
    // Two schedulers must not share a port: the second one is an error.
    builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
    builder.SetMaxReceiveMessageSize(64 << 20);
    builder.RegisterService(service_.get());
    server_ = builder.BuildAndStart();
    check(server_ != nullptr && port != 0, ErrorKind::kIo,
          "the scheduler cannot listen at {}: the port is in use, or the address is not of this "
          "machine",
          at.scheduler_address());
    thread_ = std::thread([this] { watch(); });
  }

  ~RunningService() override {
    {
      const std::lock_guard lock(guard_);
      ending_ = true;
      changed_.notify_all();
    }
    thread_.join();
    server_->Shutdown(std::chrono::system_clock::now() + kEndTime);
    server_->Wait();
  }

  std::string wait() override {
    std::unique_lock lock(guard_);
    changed_.wait(lock, [&] { return over_; });
    const std::lock_guard within(service_->guard);
    return service_->failure();
  }

 private:
  // Passes time on until the job is over.
  void watch() {
    const auto step = std::chrono::duration<double>(std::min(0.05, job_.dead_after / 10));
    const double between = job_.dead_after / 4;
    double last = 0, failed = 0;
    while (true) {
      {
        std::unique_lock lock(guard_);
        if (changed_.wait_for(lock, step, [&] { return ending_; })) return;
      }
      const double now = seconds_now();
      const bool beat = now - last >= between;
      if (beat) last = now;
      bool over = false;
      {
        const std::lock_guard lock(service_->guard);
        service_->tick(beat);
        over = service_->is_over();
        if (!service_->failure().empty()) {
          if (failed == 0) failed = now;
          over = over || now - failed > std::chrono::duration<double>(kEndTime).count();
        }
      }
      const std::lock_guard lock(guard_);
      if (over && !std::exchange(over_, true)) changed_.notify_all();
    }
  }

  std::shared_ptr<Service> service_;
  Job job_;
  std::unique_ptr<grpc::Server> server_;
  std::mutex guard_;
  std::condition_variable changed_;
  bool over_ = false, ending_ = false;
  std::thread thread_;
};

}  // namespace

std::unique_ptr<SchedulerService> start_scheduler(const Job& job) {
  return std::make_unique<RunningService>(job);
}

}  // namespace symbind::net
