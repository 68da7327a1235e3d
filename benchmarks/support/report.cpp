#include "support/report.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

namespace symbind::bench {

void Report::at_most(const std::string& what, double figure, double target,
                     const std::string& unit) {
  const bool met = figure <= target;
  misses_ += !met;
  std::printf("%-62s %10.4g %-4s target %8.4g  %s\n", what.c_str(), figure, unit.c_str(), target,
              met ? "met" : "MISSED");
  std::fflush(stdout);
}

void Report::note(const std::string& text) {
  std::printf("  %s\n", text.c_str());
  std::fflush(stdout);
}

double time_once(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values.empty() ? 0 : values[values.size() / 2];
}

Ratio compare(int pairs, const std::function<double()>& ours,
              const std::function<double()>& theirs) {
  std::vector<double> a, b, ratios;
  for (int i = 0; i < pairs; ++i) {
    a.push_back(ours());
    b.push_back(theirs());
    ratios.push_back(a.back() / b.back());
  }
  std::ranges::sort(ratios);
  return {median(ratios), ratios[ratios.size() * 3 / 4], median(a), median(b)};
}

}  // namespace symbind::bench
