// Decided here: one thread reads what the scheduler says, another says that this process lives, as
// soon as the scheduler has said so of itself. A scheduler that is silent for dead_after counts as
// lost, as a member does on the other side.

#include "net/grpc/member.h"

#include <grpcpp/grpcpp.h>
#include <unistd.h>

#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

#include <fmt/format.h>

#include "base/check.h"
#include "base/interrupt.h"
#include "base/signals.h"
#include "net/grpc/convert.h"
#include "net/grpc/credentials.h"

namespace symbind::net {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kBetweenPolls = std::chrono::milliseconds(50);
constexpr auto kLeaveTime = std::chrono::seconds(2);

std::string host_name() {
  char name[256] = "?";
  gethostname(name, sizeof name - 1);
  return name;
}

class Membership final : public Control {
 public:
  Membership(const Job& job, const std::string& address, bool asynchronous);
  ~Membership() override { leave(""); }

  int rank() const override { return rank_; }
  bool rejoined() const override { return rejoined_; }
  const std::vector<Member>& members() const override { return members_; }
  std::vector<std::string> gather(const std::string& name, const std::string& part) override;
  void report(std::int64_t updates) override;
  void waits_for(const std::string& what) override;
  Failed failure(std::chrono::milliseconds patience) const override;
  void on_failure(std::function<void(const std::string&)> f) override;
  Failed wait_end() override;
  void leave(const std::string& error) override;

 private:
  void connect();
  void prove(const std::string& address, bool asynchronous);
  void read();
  void beat();
  void hear(const dist::ToMember& message);
  void set_failure(const Failed& failed);
  bool write(const dist::FromMember& message);
  /// Waits with the mutex until `f` holds; Ctrl-C ends it.
  template <class F>
  bool wait_until(std::unique_lock<std::mutex>& lock, Clock::time_point until, F&& f) const;
  void check_running() const;

  Job job_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<dist::Scheduler::Stub> stub_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReaderWriter<dist::FromMember, dist::ToMember>> stream_;
  std::string challenge_, nonce_;

  mutable std::mutex guard_;
  mutable std::condition_variable changed_;
  int rank_ = -1;
  bool rejoined_ = false;
  std::vector<Member> members_;
  Beat beat_;
  std::map<std::string, std::vector<std::string>> gathered_;
  Failed failure_;
  std::vector<std::function<void(const std::string&)>> watchers_;
  Clock::time_point heard_ = Clock::now();
  bool left_ = false, closed_ = false, ended_ = false;

  std::mutex write_guard_;
  std::thread reader_, beater_;
};

Membership::Membership(const Job& job, const std::string& address, bool asynchronous) : job_(job) {
  const SignalsBlocked within;  // the threads of gRPC and ours inherit this
  connect();
  prove(address, asynchronous);
  reader_ = std::thread([this] { read(); });
  beater_ = std::thread([this] { beat(); });
  try {
    std::unique_lock lock(guard_);
    wait_until(lock, Clock::time_point::max(),
               [&] { return rank_ >= 0 || !failure_.reason.empty(); });
    check_running();
  } catch (...) {
    leave("it gave up joining");
    throw;
  }
}

template <class F>
bool Membership::wait_until(std::unique_lock<std::mutex>& lock, Clock::time_point until,
                            F&& f) const {
  while (!changed_.wait_for(lock, kBetweenPolls, f)) {
    if (Clock::now() > until) return false;
    lock.unlock();
    interruption_point();
    lock.lock();
  }
  return true;
}

void Membership::check_running() const {
  check(failure_.reason.empty(), ErrorKind::kState, "{}", failure_.reason);
}

void Membership::connect() {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  // How long one attempt may take. A busy machine answers the handshake late.
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 2000);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 300);
  arguments.SetMaxReceiveMessageSize(-1);
  channel_ =
      grpc::CreateCustomChannel(job_.scheduler_address(), member_credentials(job_), arguments);
  const auto until = Clock::now() + std::chrono::duration<double>(job_.join_wait);
  while (!channel_->WaitForConnected(std::chrono::system_clock::now() + kBetweenPolls)) {
    interruption_point();
    check(
        Clock::now() < until, ErrorKind::kIo,
        "no scheduler answers at {} within {:g} s (SYMBIND_DIST_JOIN_WAIT)\n  fix:  start the job "
        "with python -m symbind.launch, or check DMLC_PS_ROOT_URI and DMLC_PS_ROOT_PORT",
        job_.scheduler_address(), job_.join_wait);
  }
}

void Membership::prove(const std::string& address, bool asynchronous) {
  stub_ = dist::Scheduler::NewStub(channel_);
  stream_ = stub_->Attend(&context_);
  dist::ToMember first;
  if (!stream_->Read(&first))
    fail(ErrorKind::kIo, "what answers at {} is not a scheduler of Symbind: {}",
         job_.scheduler_address(), stream_->Finish().error_message());
  check(first.has_challenge(), ErrorKind::kIo, "what answers at {} is not a scheduler of Symbind",
        job_.scheduler_address());
  challenge_ = first.challenge().nonce();
  nonce_ = bytes_of(random_nonce());
  dist::FromMember message = encode(FromMember(Join{.member = {.role = job_.role,
                                                               .rank = job_.rank,
                                                               .host = host_name(),
                                                               .pid = getpid(),
                                                               .address = address},
                                                    .workers = job_.workers,
                                                    .servers = job_.servers,
                                                    .generation = job_.generation,
                                                    .asynchronous = asynchronous,
                                                    .version = SYMBIND_VERSION}));
  message.mutable_join()->set_nonce(nonce_);
  message.mutable_join()->set_proof(
      std::string(bytes_of(proof_of(job_.token, join_text(challenge_, message.join())))));
  write(message);
}

bool Membership::write(const dist::FromMember& message) {
  const std::lock_guard lock(write_guard_);
  return stream_->Write(message);
}

void Membership::set_failure(const Failed& failed) {
  std::vector<std::function<void(const std::string&)>> watchers;
  {
    const std::lock_guard lock(guard_);
    if (!failure_.reason.empty() || left_ || ended_) return;
    failure_ = failed;
    watchers = std::move(watchers_);
    changed_.notify_all();
  }
  for (const auto& f : watchers) f(failed.reason);
}

void Membership::hear(const dist::ToMember& message) {
  if (message.has_welcome()) {
    const std::string& given = message.welcome().proof();
    Proof proof{};
    std::copy_n(given.begin(), std::min(given.size(), proof.size()), proof.begin());
    if (!same_proof(proof, proof_of(job_.token, welcome_text(challenge_, nonce_))))
      return set_failure({fmt::format("the scheduler at {} does not know the job's token",
                                      job_.scheduler_address())});
  }
  const std::optional<ToMember> decoded = decode(message);
  if (!decoded) return;
  if (const auto* failed = std::get_if<Failed>(&*decoded)) return set_failure(*failed);
  const std::lock_guard lock(guard_);
  if (const auto* welcome = std::get_if<Welcome>(&*decoded)) {
    rank_ = welcome->rank;
    rejoined_ = welcome->rejoined;
    members_ = welcome->members;
  } else if (const auto* gathered = std::get_if<Gathered>(&*decoded)) {
    gathered_[gathered->name] = gathered->parts;
  } else if (const auto* alive = std::get_if<Alive>(&*decoded)) {
    beat_.heard = alive->number;
  } else if (std::holds_alternative<Ended>(*decoded)) {
    ended_ = true;
  }
  changed_.notify_all();
}

void Membership::read() {
  dist::ToMember message;
  while (stream_->Read(&message)) {
    {
      const std::lock_guard lock(guard_);
      heard_ = Clock::now();
    }
    hear(message);
  }
  set_failure(
      {fmt::format("the scheduler at {} closed the connection", job_.scheduler_address()), true});
  const std::lock_guard lock(guard_);
  closed_ = true;
  changed_.notify_all();
}

void Membership::beat() {
  const auto between = std::chrono::duration<double>(job_.dead_after / 4);
  std::int64_t answered = 0;
  while (true) {
    Beat now;
    double silent = 0;
    {
      std::unique_lock lock(guard_);
      changed_.wait_for(lock, between, [&] { return left_ || closed_ || beat_.heard != answered; });
      if (left_ || closed_) return;
      now = beat_;
      answered = now.heard;
      silent = std::chrono::duration<double>(Clock::now() - heard_).count();
    }
    if (silent > job_.dead_after) {
      set_failure({fmt::format("the scheduler at {} lost: it is silent for {:.1f} s "
                               "(SYMBIND_DIST_DEAD_AFTER)",
                               job_.scheduler_address(), silent),
                   true});
      context_.TryCancel();
      return;
    }
    write(encode(FromMember(now)));
  }
}

std::vector<std::string> Membership::gather(const std::string& name, const std::string& part) {
  const Waiting waiting(*this, name);
  write(encode(FromMember(Gather{name, part})));
  std::unique_lock lock(guard_);
  wait_until(lock, Clock::time_point::max(),
             [&] { return gathered_.contains(name) || !failure_.reason.empty(); });
  check_running();
  auto node = gathered_.extract(name);
  return std::move(node.mapped());
}

void Membership::report(std::int64_t updates) {
  const std::lock_guard lock(guard_);
  beat_.updates = updates;
}

void Membership::waits_for(const std::string& what) {
  const std::lock_guard lock(guard_);
  beat_.waits_for = what;
}

Failed Membership::failure(std::chrono::milliseconds patience) const {
  std::unique_lock lock(guard_);
  changed_.wait_for(lock, patience, [&] { return !failure_.reason.empty(); });
  return failure_;
}

void Membership::on_failure(std::function<void(const std::string&)> f) {
  std::unique_lock lock(guard_);
  if (failure_.reason.empty()) return watchers_.push_back(std::move(f));
  const std::string reason = failure_.reason;
  lock.unlock();
  f(reason);
}

Failed Membership::wait_end() {
  std::unique_lock lock(guard_);
  wait_until(lock, Clock::time_point::max(), [&] { return ended_ || !failure_.reason.empty(); });
  return failure_;
}

void Membership::leave(const std::string& error) {
  if (!reader_.joinable()) return;
  bool failed = false;
  {
    const std::lock_guard lock(guard_);
    failed = !failure_.reason.empty();
  }
  if (!failed) {
    Beat last;
    {
      const std::lock_guard lock(guard_);
      last = beat_;
      left_ = true;
    }
    write(encode(FromMember(last)));
    write(encode(FromMember(Leave{error})));
  }
  {
    const std::lock_guard lock(write_guard_);
    stream_->WritesDone();
  }
  {
    std::unique_lock lock(guard_);
    left_ = true;
    changed_.notify_all();
    if (!changed_.wait_for(lock, kLeaveTime, [&] { return closed_; })) context_.TryCancel();
  }
  reader_.join();
  beater_.join();
  stream_->Finish();
}

}  // namespace

std::unique_ptr<Control> join_job(const Job& job, const std::string& address, bool asynchronous) {
  return std::make_unique<Membership>(job, address, asynchronous);
}

}  // namespace symbind::net
