#pragma once
// Working memory for calls: a lane is an arena and the executors wired over it, one per plan it has
// run. A call has a lane to itself.
//
// Decided here: lanes are handed out last in, first out, so that few are warm rather than many
// cold. All plans of a lane share its arena, which is as large as the largest of them; so memory
// grows with the calls at once, not with the shapes seen.

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

  /// A lane that belongs to the holder, wired for one plan; given back at its end.
  class Lease {
   public:
    Lease(ExecutorPool& pool, const std::shared_ptr<PlanEntry>& entry, const Network& network);
    ~Lease();
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    /// Gives the arrays of one call.
    void fill(const std::vector<std::pair<std::size_t, NDArray>>& args,
              std::vector<NDArray> outputs);
    /// Runs steps [first, last). Throws what goes wrong.
    void run(std::size_t first, std::size_t last);

   private:
    ExecutorPool& pool_;
    std::unique_ptr<Lane> lane_;
    Wired* wired_ = nullptr;
  };

  /// Fills in what it knows.
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
