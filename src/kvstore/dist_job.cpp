// Decided here: the process leaves its job when it ends, not when its last store is destroyed: a
// script may make another store. A forked child has no threads of the job, so it is refused.

#include "kvstore/dist_job.h"

#include <unistd.h>

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <symbind/interrupt.h>

#include "base/check.h"
#include "kvstore/reduce.h"
#include "ndarray/access.h"
#include "net/exchange.h"

namespace symbind {
namespace {

std::mutex g_guard;
std::shared_ptr<DistJob> g_job;  // never destroyed by the end of the process: see leave

constexpr int kCountBits = 20;  // of a name, besides the key

net::Collective::Name name_of(std::uint64_t key, std::uint64_t count) {
  check(key >> (40 - kCountBits) == 0, ErrorKind::kState,
        "a process has at most {} keys in distributed stores", 1 << (40 - kCountBits));
  return key << kCountBits | (count & ((1u << kCountBits) - 1));
}

net::Buffer buffer_of(const NDArray& array) {
  auto owner = std::make_shared<NDArray>(array);
  return {.data = reinterpret_cast<std::byte*>(write_pointer(*owner)),
          .bytes = static_cast<std::size_t>(array.size()) * size_of(array.dtype()),
          .element = size_of(array.dtype()),
          .owner = owner};
}

std::string quoted(const std::string& facts) {
  constexpr std::size_t kMost = 400;
  return facts.size() <= kMost ? facts : facts.substr(0, kMost) + " …";
}

}  // namespace

std::shared_ptr<DistJob> DistJob::join(const std::string& store_type, bool asynchronous) {
  const std::lock_guard lock(g_guard);
  if (!g_job) {
    const std::optional<net::Job> job = net::job_of_environment();
    check(
        job.has_value(), ErrorKind::kState,
        "kvstore '{}' sums over the processes of a job, and this process belongs to none\n  fix:  "
        "start it with python -m symbind.launch -n 2 COMMAND, or with torchrun, mpirun or srun",
        store_type);
    check(job->role == net::Role::kWorker, ErrorKind::kState,
          "kvstore '{}': this process is a {} of its job (DMLC_ROLE), only workers have stores",
          store_type, role_name(job->role));
    g_job = std::make_shared<DistJob>(*job, asynchronous);
  }
  g_job->check_not_forked();
  check(g_job->asynchronous() == asynchronous, ErrorKind::kState,
        "kvstore '{}': this process has a store of the other kind; a job is either synchronous or "
        "asynchronous",
        store_type);
  return g_job;
}

void DistJob::leave(const std::string& error) {
  std::shared_ptr<DistJob> job;
  {
    const std::lock_guard lock(g_guard);
    job = std::move(g_job);
    g_job = nullptr;
  }
  if (!job || job->process_ != getpid()) {
    static std::shared_ptr<DistJob> forgotten;  // a child must not join the parent's threads
    forgotten = std::move(job);
    return;
  }
  if (!error.empty())
    job->control().leave(error);
  else
    job->finish_started();
  job->collective_.reset();
  job->session_.reset();
}

DistJob::DistJob(const net::Job& job, bool asynchronous)
    : session_(net::engine().join(job, asynchronous)),
      workers_(job.workers),
      asynchronous_(asynchronous),
      process_(getpid()) {
  if (const auto links = session_->links()) collective_ = std::make_unique<net::Exchange>(links);
  static const bool registered = std::atexit([] { leave(""); }) == 0;
  static_cast<void>(registered);
}

DistJob::~DistJob() = default;

void DistJob::check_not_forked() const {
  check(process_ == getpid(), ErrorKind::kState,
        "a forked process cannot use the distributed store of its parent (pid {})\n  fix:  fork "
        "before the store is created, or start the child as a new process",
        process_);
  check(session_ != nullptr, ErrorKind::kState, "this process has left its job");
}

void DistJob::fail_as(const net::Failed& failed) const {
  if (!failed.lost) fail(ErrorKind::kState, "{}", failed.reason);
  fail(ErrorKind::kLost, "{}{}", failed.reason, note_ ? "; " + note_() : std::string());
}

// The reason that the scheduler gives comes first: a broken link is only its consequence.
template <class F>
auto DistJob::guarded(F&& f) {
  check_not_forked();
  try {
    return f();
  } catch (const Interrupted&) {
    throw;
  } catch (const std::exception& e) {
    const net::Failed failed = control().failure(std::chrono::milliseconds(700));
    fail_as(failed.reason.empty() ? net::Failed{e.what(), true} : failed);
  }
}

std::vector<std::string> DistJob::gather(const std::string& what, const std::string& part) {
  // A worker that joins an asynchronous job again has not counted with the others.
  const std::string name = asynchronous_ ? what : fmt::format("{} ({})", what, ++uses_[what]);
  return guarded([&] { return control().gather(name, part); });
}

void DistJob::agree(const std::string& what, const std::string& facts) {
  const std::vector<std::string> all = gather(what, facts);
  std::vector<std::string> lines;
  for (std::size_t i = 1; i < all.size(); ++i)
    if (all[i] != all[0]) lines.push_back(fmt::format("worker {}: {}", i, quoted(all[i])));
  check(lines.empty(), ErrorKind::kState,
        "{}: the workers do not agree\n  worker 0: {}\n  {}\n  fix:  run the same script with the "
        "same arguments on every worker",
        what, quoted(all[0]), fmt::join(lines, "\n  "));
}

std::shared_ptr<net::Pending> DistJob::kept(std::shared_ptr<net::Pending> started) {
  const std::lock_guard lock(started_guard_);
  while (!started_.empty() && started_.front().expired()) started_.pop_front();
  started_.emplace_back(started);
  return started;
}

void DistJob::finish_started() {
  for (const auto& started : started_) {
    const auto pending = started.lock();
    if (!pending) continue;
    try {
      wait(*pending, "the last sum");
    } catch (const Error&) {  // the job failed, and the process ends anyway
      return;
    }
  }
}

std::shared_ptr<net::Pending> DistJob::start_sum(std::uint64_t key, std::uint64_t count,
                                                 const NDArray& array, const NDArray& from,
                                                 const NDArray& copy) {
  const DType dtype = array.dtype();
  net::Buffer buffer = buffer_of(array);
  // Ctrl-C ends a wait, not the sum: it may use the arrays after its caller has dropped them.
  buffer.owner = std::make_shared<std::array<NDArray, 3>>(std::array{array, from, copy});
  if (from.defined()) buffer.from = read_pointer(from);
  if (copy.defined()) buffer.copy = write_pointer(copy);
  return guarded([&] {
    return kept(collective_->start_sum(
        name_of(key, count), buffer,
        [dtype](std::span<const std::byte* const> in, std::byte* out, std::size_t bytes) {
          add_in_order(dtype, in, out, bytes);
        }));
  });
}

std::shared_ptr<net::Pending> DistJob::start_gather(std::uint64_t key, std::uint64_t count,
                                                    const NDArray& array,
                                                    std::vector<std::size_t> parts) {
  net::Buffer buffer = buffer_of(array);
  buffer.parts = std::move(parts);
  return guarded([&] { return collective_->start_gather(name_of(key, count), buffer); });
}

std::shared_ptr<net::Pending> DistJob::start_copy(std::uint64_t key, std::uint64_t count,
                                                  const NDArray& array) {
  return guarded([&] { return collective_->start_copy(name_of(key, count), buffer_of(array), 0); });
}

void DistJob::wait(net::Pending& pending, const std::string& what) {
  guarded([&] {
    const net::Waiting waiting(control(), what);
    pending.wait();
  });
}

std::shared_ptr<net::Asked> DistJob::ask(int server, net::ValueCall call, std::span<std::byte> into,
                                         std::shared_ptr<void> owner) {
  check_not_forked();
  return servers().start(server, std::move(call), into, std::move(owner));
}

std::string DistJob::wait_answer(net::Asked& asked, const std::string& what) {
  guarded([&] {
    std::optional<net::Waiting> waiting;
    if (!what.empty()) waiting.emplace(control(), what);
    asked.wait();
  });
  return asked.text();
}

void DistJob::sum(const std::string& what, const std::vector<NDArray>& arrays) {
  for (const NDArray& array : arrays) {
    NDArray here = array.as_in_context(cpu()).copy();
    wait(*start_sum(next_key(), 0, here), what);
    here.copy_to(array);
  }
}

void DistJob::copy_from_first(const std::string& what, const std::vector<NDArray>& arrays) {
  for (const NDArray& array : arrays) {
    NDArray here = array.as_in_context(cpu()).copy();
    wait(*start_copy(next_key(), 0, here), what);
    here.copy_to(array);
  }
}

std::uint64_t DistJob::bytes_sent() const {
  const std::shared_ptr<net::Links> links = session_->links();
  return links ? links->bytes_sent() : 0;
}

void DistJob::count_update() { control().report(++updates_); }

}  // namespace symbind
