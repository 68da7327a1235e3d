#pragma once
// Sums over workers by direct exchange.
//
// The buffer is divided into a share per worker. Each worker sends every share to its owner; the
// owner adds up what it receives in rank order and sends the sum back. Every number crosses the
// network twice, as in a ring, but in two steps instead of 2 (n - 1), and the order of the
// additions is the same for every number.
//
// Many workers sum in two levels, because each would send a small message to all others: groups of
// consecutive ranks sum first, then owners of the same share in all groups add up the sums of the
// groups in the order of the groups.

#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "net/collective.h"
#include "net/links.h"

namespace symbind::net {

class Exchange final : public Collective {
 public:
  /// The most workers that sum in one level.
  static constexpr int kMostInOneLevel = 64;
  explicit Exchange(std::shared_ptr<Links> links, int most_in_one_level = kMostInOneLevel);
  ~Exchange() override;
  std::shared_ptr<Pending> start_sum(Name name, const Buffer& buffer, AddPieces add) override;
  std::shared_ptr<Pending> start_gather(Name name, const Buffer& buffer) override;
  std::shared_ptr<Pending> start_copy(Name name, const Buffer& buffer, int root) override;

 private:
  class Work;
  /// Workers that exchange with each other. The first `owners` of them own a share each.
  struct Team {
    std::vector<int> ranks;  ///< ascending
    int owners = 0;
    int me = 0;  ///< this worker's place in `ranks`
  };
  using Memory = std::unique_ptr<std::byte[]>;

  void make_levels(int workers, int rank);
  std::shared_ptr<Pending> start(std::shared_ptr<Work> work);
  Memory take_scratch(std::size_t bytes);
  void give_scratch(std::size_t bytes, Memory memory);

  std::shared_ptr<Links> links_;
  Team all_;
  std::optional<Team> group_, across_;  ///< of two levels; `across_` only for owners of the group
  int groups_ = 1;
  std::mutex guard_;
  std::condition_variable idle_;
  int active_ = 0;                              ///< works that have not ended
  std::multimap<std::size_t, Memory> scratch_;  ///< free, by size
};

}  // namespace symbind::net
