#pragma once
// The workers of a distributed job, for what they do together besides summing gradients.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <symbind/ndarray.h>

namespace symbind {

/// Every call here is made by all workers, in the same order; `what` says for which purpose, and
/// is part of the errors.
class Workers {
 public:
  virtual ~Workers() = default;
  virtual int rank() const = 0;
  virtual int count() const = 0;
  /// What each worker gives, by rank.
  virtual std::vector<std::string> gather(const std::string& what, const std::string& part) = 0;
  /// An Error on all workers, which names those that differ, unless all give the same.
  virtual void agree(const std::string& what, const std::string& facts) = 0;
  virtual void barrier(const std::string& what) { gather(what, ""); }
  /// Arrays become their sums over the workers in rank order.
  virtual void sum(const std::string& what, const std::vector<NDArray>& arrays) = 0;
  /// Arrays become those of worker 0.
  virtual void copy_from_first(const std::string& what, const std::vector<NDArray>& arrays) = 0;
  /// Counts one more complete update, for the messages of others.
  virtual void count_update() = 0;
  /// Bytes of arrays that this worker has sent to others.
  virtual std::uint64_t bytes_sent() const = 0;
  /// What errors add when a worker is lost, e.g. the last complete checkpoint.
  virtual void set_loss_note(std::function<std::string()> note) = 0;
};

}  // namespace symbind
