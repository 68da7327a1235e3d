// do_checkpoint: saves the network and its parameters behind every so many epochs.

#include <algorithm>

#include <symbind/callback.h>
#include <symbind/model.h>

namespace symbind {

EpochEndCallback do_checkpoint(const std::string& prefix, int period) {
  return [prefix, every = std::max(1, period)](int epoch, const Symbol& symbol,
                                               const NDArrayMap& args, const NDArrayMap& aux) {
    if ((epoch + 1) % every == 0) save_checkpoint(prefix, epoch + 1, symbol, args, aux);
  };
}

}  // namespace symbind
