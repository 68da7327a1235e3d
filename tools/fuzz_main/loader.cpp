// libFuzzer's entry to one loader: -DSYMBIND_FUZZ_LOADER=params makes fuzz_params.

#include "fuzz/loaders.h"

extern "C" int LLVMFuzzerInitialize(int* /*argc*/, char*** /*argv*/) {
  symbind::fuzz::prepare();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  symbind::fuzz::SYMBIND_FUZZ_LOADER({data, size});
  return 0;
}
