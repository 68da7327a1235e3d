#pragma once
// Prints figures with their targets, and makes the interleaved comparison for every ratio.

#include <functional>
#include <string>
#include <vector>

namespace symbind::bench {

class Report {
 public:
  /// Prints `figure` and its target; a figure over the target makes failed() true.
  void at_most(const std::string& what, double figure, double target, const std::string& unit);
  void note(const std::string& text);
  bool failed() const { return misses_ > 0; }
  int misses() const { return misses_; }

 private:
  int misses_ = 0;
};

struct Ratio {
  double median = 0, worst_quartile = 0;
  double ours = 0, theirs = 0;  ///< median seconds
};

/// Runs both alternately; each returns the seconds of one unit of work. Ratios are taken per pair.
Ratio compare(int pairs, const std::function<double()>& ours,
              const std::function<double()>& theirs);

/// Seconds of one call.
double time_once(const std::function<void()>& work);
double median(std::vector<double> values);

}  // namespace symbind::bench
