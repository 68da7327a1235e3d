// do_checkpoint, module_checkpoint: MXNet's own files, every few epochs.

#include <algorithm>

#include <symbind/callback.h>
#include <symbind/model.h>
#include <symbind/module.h>

namespace symbind {

EpochEndCallback do_checkpoint(const std::string& prefix, int period) {
  return [prefix, every = std::max(1, period)](int epoch, const Symbol& symbol,
                                               const NDArrayMap& args, const NDArrayMap& aux) {
    if ((epoch + 1) % every == 0) save_checkpoint(prefix, epoch + 1, symbol, args, aux);
  };
}

EpochEndCallback module_checkpoint(Module& module, const std::string& prefix, int period,
                                   bool save_optimizer_states) {
  return [&module, prefix, every = std::max(1, period), save_optimizer_states](
             int epoch, const Symbol&, const NDArrayMap&, const NDArrayMap&) {
    if ((epoch + 1) % every == 0) module.save_checkpoint(prefix, epoch + 1, save_optimizer_states);
  };
}

}  // namespace symbind
