// Nesterov's accelerated gradient: nag_mom_update, or plain descent without momentum.
#include "optimizer/builtin.h"

namespace symbind {
namespace {

class Nag : public MomentumOptimizer {
 public:
  Nag() : MomentumOptimizer("NAG optimizer", "nag_mom_update") {}
  std::string class_name() const override { return "NAG"; }
};

}  // namespace

std::shared_ptr<Optimizer> make_nag() { return std::make_shared<Nag>(); }

}  // namespace symbind
