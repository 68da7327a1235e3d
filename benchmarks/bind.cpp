// Loads a symbol and binds it for a data shape COUNT times; prints the milliseconds of each bind.
// benchmarks/python/calls.py compares this with binding from Python.
//   bench_bind SYMBOL.json COUNT N C H W

#include <chrono>
#include <cstdio>
#include <cstdlib>

#include <symbind/executor.h>

int main(int argc, char** argv) {
  using namespace symbind;
  if (argc != 7) {
    std::fprintf(stderr, "usage: bench_bind SYMBOL.json COUNT N C H W\n");
    return 2;
  }
  try {
    const Symbol symbol = Symbol::load(argv[1]);
    const Shape data{std::atoll(argv[3]), std::atoll(argv[4]), std::atoll(argv[5]),
                     std::atoll(argv[6])};
    for (int i = 0; i < std::atoi(argv[2]); ++i) {
      const auto start = std::chrono::steady_clock::now();
      const Executor executor = symbol.simple_bind(cpu(), {{"data", data}});
      const std::chrono::duration<double, std::milli> taken =
          std::chrono::steady_clock::now() - start;
      std::printf("%.3f\n", taken.count());
      std::fflush(stdout);
    }
  } catch (const Error& error) {
    std::fprintf(stderr, "bench_bind: %s\n", error.what());
    return 1;
  }
  return 0;
}
