// Half of the time libFuzzer changes a network's JSON as a network, not as text.

#include <cstring>

#include "fuzz/mutate_symbol.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned seed) {
  if (seed % 2 == 0) {
    const std::string changed =
        symbind::fuzz::mutate_symbol({reinterpret_cast<const char*>(data), size}, seed);
    if (!changed.empty() && changed.size() <= most) {
      std::memcpy(data, changed.data(), changed.size());
      return changed.size();
    }
  }
  return LLVMFuzzerMutate(data, size, most);
}
