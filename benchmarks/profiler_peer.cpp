// The other side of bench_profiler: answers "step" and "add" with the seconds of one. It uses
// nothing that an older library has not, so that LD_LIBRARY_PATH may put one under it.

#include <iostream>

#include <fmt/format.h>

#include "support/small_work.h"

int main() {
  symbind::bench::SmallWork work;
  std::cout << "ready" << std::endl;
  for (std::string what; std::getline(std::cin, what);)
    std::cout << fmt::format("{:.12g}", what == "step" ? work.step() : work.add()) << std::endl;
}
