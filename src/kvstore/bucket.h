#pragma once
// Gradients of one or several keys whose sum over the workers is one exchange.

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "kvstore/compression.h"
#include "kvstore/dist_job.h"

namespace symbind {

class Bucket {
 public:
  struct Member {
    Key key;
    Shape shape;
  };
  /// `number` is equal on all workers, and so is the number of sums that were started with it.
  Bucket(DistJob& job, std::uint64_t number, std::uint64_t count, DType dtype,
         const std::vector<Member>& members);

  DType dtype() const { return sums_.dtype(); }
  std::uint64_t count() const { return count_; }
  /// The sum of this worker's devices; after `take`, that of all workers.
  NDArray& merged(std::size_t member) { return merged_[member]; }
  /// Starts the sum of what all `merged` hold. The compression must not change before `take`.
  void start(const GradientCompression* compression, Residuals& residuals);
  /// Starts the sum of one key: this worker gives `from`, and `copy` gets the sum as well.
  void start_from(const NDArray& from, const NDArray& copy);
  bool is_started() const { return pending() != nullptr; }
  /// Waits for the sum. Several threads may wait, and wait again after an error.
  void wait();
  /// Ends the push after `wait`.
  void take();
  /// Exchanges the memory of the sum of one key with `value`, which is alike.
  void swap_only(NDArray& value);

 private:
  void start_gather(const GradientCompression& compression, Residuals& residuals);
  void set_pending(std::shared_ptr<net::Pending> pending);
  std::shared_ptr<net::Pending> pending() const;
  void decompress();
  std::string text() const;

  DistJob& job_;
  std::uint64_t number_, count_;
  std::vector<Key> keys_;
  NDArray sums_;                 ///< all numbers, one key after the other
  std::vector<NDArray> merged_;  ///< parts of it
  NDArray sent_;                 ///< the same, compressed
  const GradientCompression* compression_ = nullptr;
  mutable std::mutex guard_;  ///< of `pending_`
  std::shared_ptr<net::Pending> pending_;
};

}  // namespace symbind
