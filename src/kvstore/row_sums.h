#pragma once
// Sums over workers of arrays most of whose rows are 0.

#include <cstdint>
#include <string>

#include "kvstore/dist_job.h"

namespace symbind {

/// The sums of one key. All workers make them in the same order.
class RowSums {
 public:
  explicit RowSums(DistJob& job) : job_(job), number_(job.next_key()) {}
  /// `array` becomes the sum over the workers, with the bits of a sum of whole arrays in rank
  /// order. Only rows that are not 0 are sent. Waits for the other workers.
  void sum(const std::string& what, const NDArray& array);

 private:
  DistJob& job_;
  std::uint64_t number_, count_ = 0;
};

}  // namespace symbind
