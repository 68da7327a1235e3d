#pragma once
// Sums over workers by direct exchange.
//
// The buffer is divided into a share per worker. Each worker sends every share to its owner; the
// owner adds up what it receives in rank order and sends the sum back. Every number crosses the
// network twice, as in a ring, but in two steps instead of 2 (n - 1), and the order of the
// additions is the same for every number.

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "net/collective.h"
#include "net/links.h"

namespace symbind::net {

class Exchange final : public Collective {
 public:
  explicit Exchange(std::shared_ptr<Links> links);
  ~Exchange() override;
  std::shared_ptr<Pending> start_sum(Name name, const Buffer& buffer, AddPieces add) override;
  std::shared_ptr<Pending> start_gather(Name name, const Buffer& buffer) override;
  std::shared_ptr<Pending> start_copy(Name name, const Buffer& buffer, int root) override;

 private:
  class Work;
  /// Work in the order it was started, and the thread that does one stage of it.
  struct Stage {
    std::deque<std::shared_ptr<Work>> queue;
    std::thread thread;
  };

  std::shared_ptr<Pending> start(std::shared_ptr<Work> work);
  void run(Stage& stage, void (Work::*part)(), Stage* next);
  void put(Stage& stage, std::shared_ptr<Work> work);

  std::shared_ptr<Links> links_;
  std::mutex guard_;
  std::condition_variable changed_;
  bool ending_ = false;
  Stage owning_, finishing_;
  std::multimap<std::size_t, std::unique_ptr<std::byte[]>> scratch_;  ///< free, by size
};

}  // namespace symbind::net
