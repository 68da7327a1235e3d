// The peer of bench_profiler: answers "step" and "add" with the seconds of one. It uses only what
// an older library has too, so that LD_LIBRARY_PATH can select one.

#include <iostream>

#include <fmt/format.h>

#include "support/small_work.h"

int main() {
  symbind::bench::SmallWork work;
  std::cout << "ready" << std::endl;
  for (std::string what; std::getline(std::cin, what);)
    std::cout << fmt::format("{:.12g}", what == "step" ? work.step() : work.add()) << std::endl;
}
