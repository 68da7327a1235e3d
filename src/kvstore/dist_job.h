#pragma once
// The job this process belongs to. All its distributed stores share one session.

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <symbind/detail/workers.h>

#include "net/collective.h"
#include "net/engine.h"

namespace symbind {

class DistJob final : public Workers {
 public:
  /// The job of the environment, joined at the first call. An Error if there is none.
  static std::shared_ptr<DistJob> join(const std::string& store_type, bool asynchronous);
  /// Leaves the job at the end of the process; with an error, the others fail.
  static void leave(const std::string& error);

  DistJob(const net::Job& job, bool asynchronous);
  ~DistJob() override;

  int rank() const override { return control().rank(); }
  int count() const override { return workers_; }
  std::vector<std::string> gather(const std::string& what, const std::string& part) override;
  void agree(const std::string& what, const std::string& facts) override;
  void sum(const std::string& what, const std::vector<NDArray>& arrays) override;
  void copy_from_first(const std::string& what, const std::vector<NDArray>& arrays) override;
  void count_update() override;
  std::uint64_t bytes_sent() const override;
  void set_loss_note(std::function<std::string()> note) override { note_ = std::move(note); }

  bool asynchronous() const { return asynchronous_; }
  /// Whether this worker of an asynchronous job was lost before.
  bool rejoined() const { return control().rejoined(); }
  /// The servers of an asynchronous job.
  net::Servers& servers() const { return *session_->servers(); }
  std::shared_ptr<net::Asked> ask(int server, net::ValueCall call, std::span<std::byte> into,
                                  std::shared_ptr<void> owner);
  /// Waits for an answer and returns its text; errors are those of the server. `what` is said to
  /// the others, if the answer depends on them.
  std::string wait_answer(net::Asked& asked, const std::string& what);
  /// A number no other key of this process has; equal on all workers that ask in the same order.
  std::uint64_t next_key() { return next_key_++; }
  /// Starts the sum of a CPU array; `count` numbers the sums of the key. This worker gives `from`
  /// (`array` unless given), which must not change before the end; `copy` gets the sum as well.
  std::shared_ptr<net::Pending> start_sum(std::uint64_t key, std::uint64_t count,
                                          const NDArray& array, const NDArray& from = {},
                                          const NDArray& copy = {});
  /// The array has a part per worker, of `parts` bytes or all equal; each gives its own.
  std::shared_ptr<net::Pending> start_gather(std::uint64_t key, std::uint64_t count,
                                             const NDArray& array,
                                             std::vector<std::size_t> parts = {});
  std::shared_ptr<net::Pending> start_copy(std::uint64_t key, std::uint64_t count,
                                           const NDArray& array);
  /// Waits, and says so to the others. Errors name the process that was lost.
  void wait(net::Pending& pending, const std::string& what);

 private:
  net::Control& control() const { return session_->control(); }
  template <class F>
  auto guarded(F&& f);
  std::shared_ptr<net::Pending> kept(std::shared_ptr<net::Pending> started);
  /// Waits for what was started and is not waited for: the others need this worker's part of it.
  void finish_started();
  void check_not_forked() const;
  [[noreturn]] void fail_as(const net::Failed& failed) const;

  std::unique_ptr<net::Session> session_;
  std::unique_ptr<net::Collective> collective_;
  int workers_ = 1;
  bool asynchronous_ = false;
  std::uint64_t next_key_ = 0;
  std::int64_t updates_ = 0;
  std::map<std::string, std::uint64_t> uses_;  ///< of each `what`, to keep names apart
  std::function<std::string()> note_;
  int process_ = 0;
  std::mutex started_guard_;
  std::deque<std::weak_ptr<net::Pending>> started_;  ///< what may still be under way
};

}  // namespace symbind
