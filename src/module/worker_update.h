#pragma once
// Updates by gradients that are summed over the workers of a distributed store.
//
// The sum of a bucket starts during backward, when its last gradient is final. Where every update
// is one operator, a bucket's weights are updated at their first use, mostly in the next forward:
// the last layers' sums travel while the first layers compute. What is observable stays the same:
// every access to a weight or a state finishes its update first.

#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include <symbind/detail/executor_group.h>
#include <symbind/kvstore.h>
#include <symbind/optimizer.h>

#include "executor/gradient_observer.h"
#include "module/wired_update.h"
#include "ndarray/storage.h"

namespace symbind {

class WorkerUpdate {
 public:
  /// The updater may be null if the store's function runs the updates.
  WorkerUpdate(std::shared_ptr<Updater> updater, std::shared_ptr<KVStore> store, bool on_store);
  ~WorkerUpdate();
  WorkerUpdate(const WorkerUpdate&) = delete;
  WorkerUpdate& operator=(const WorkerUpdate&) = delete;

  /// Runs what was loaded and starts sums in backward.
  void forward_backward(ExecutorGroup& group);
  /// Updates the weights by the sums of the current gradients, which it starts unless backward did.
  /// If the devices run the updates, the sums replace their gradients instead.
  void update(ExecutorGroup& group);

 private:
  struct Param {
    Param(std::size_t parameter, std::size_t in_buckets, std::size_t its_bucket)
        : number(parameter), place(in_buckets), bucket(its_bucket) {}
    const std::size_t number;              ///< among the group's parameters
    const std::size_t place, bucket;       ///< in the table
    std::atomic<std::size_t> waiting = 0;  ///< devices whose gradient is not final
  };
  /// The gradients of one device.
  class Observer;
  /// The updates of a bucket that wait for its sum.
  class Late;

  void prepare(ExecutorGroup& group);
  void begin();
  void put(const Param& param) noexcept;
  void finish_puts();
  bool wire(ExecutorGroup& group);
  void update_now(ExecutorGroup& group);

  std::shared_ptr<Updater> updater_;
  std::shared_ptr<KVStore> store_;
  bool on_store_;
  std::shared_ptr<Executor::Impl> executor_;  ///< the first device's; all below belongs to it
  ExecutorGroup* group_ = nullptr;
  std::shared_ptr<PushBuckets> buckets_;
  std::vector<std::unique_ptr<Param>> params_;  ///< those with a gradient, in the group's order
  std::vector<std::unique_ptr<Observer>> observers_;
  WiredUpdate wired_;
  std::vector<std::unique_ptr<Late>> late_;  ///< by bucket
  bool started_ = false;                     ///< sums of this step were started in backward
  std::mutex failed_guard_;
  std::exception_ptr failed_;  ///< why a gradient could not be put into its bucket

  std::mutex finishing_;
  std::atomic<std::thread::id> finisher_{};  ///< the thread that holds `finishing_`
};

}  // namespace symbind
