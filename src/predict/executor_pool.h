#pragma once
// Working memory for calls: a lane is an arena and the executors wired over it, one per plan it has
// run. A call has exclusive use of a lane.
//
// Decided here: lanes are reused last in, first out, so that a few stay warm in the caches. All
// plans of a lane share its arena, which is as large as the largest of them; so memory grows with
// the number of concurrent calls, not with the number of shapes.

#include <condition_variable>
#include <mutex>

#include "predict/plan_cache.h"

namespace symbind {

class ExecutorPool {
  struct Wired;
  struct Lane;

 public:
  /// `most`: lanes at once; 0: any number.
  explicit ExecutorPool(std::size_t most);
  ~ExecutorPool();

  /// A lane held exclusively and wired for one plan; the destructor returns it.
  class Lease {
   public:
    Lease(ExecutorPool& pool, const std::shared_ptr<PlanEntry>& entry, const Network& network);
    ~Lease();
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    /// Sets the arrays of one call.
    void fill(const std::vector<std::pair<std::size_t, NDArray>>& args,
              std::vector<NDArray> outputs);
    /// Runs steps [first, last). Throws a step's error.
    void run(std::size_t first, std::size_t last);

   private:
    ExecutorPool& pool_;
    std::unique_ptr<Lane> lane_;
    Wired* wired_ = nullptr;
  };

  /// Fills in its part of the statistics.
  void describe(PredictorStats& stats) const;

 private:
  std::unique_ptr<Lane> take();
  void give_back(std::unique_ptr<Lane> lane) noexcept;

  std::size_t most_;
  mutable std::mutex guard_;
  std::condition_variable returned_;
  std::vector<std::unique_ptr<Lane>> idle_;
  std::size_t count_ = 0;  ///< idle and in use
};

}  // namespace symbind
