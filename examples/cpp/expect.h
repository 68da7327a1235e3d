// What an example claims, checked: a claim that does not hold ends the program with status 1.
#pragma once

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

inline void expect(bool ok, const char* claim) {
  std::printf("%s  %s\n", ok ? "yes" : "NO ", claim);
  if (!ok) std::exit(1);
}

/// Whether the numbers agree to seven digits.
inline bool close(const std::vector<float>& a, const std::vector<float>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (std::abs(a[i] - b[i]) > 1e-7F * std::max(1.0F, std::abs(b[i]))) return false;
  }
  return true;
}
