#pragma once
// A network bound for training, with filled arrays and SGD-with-momentum updates in its step.

#include <symbind/executor.h>

namespace symbind::bench {

struct Training {
  Executor executor;
  int batch = 0;

  /// forward + backward + updates.
  void step() { executor.step(); }
  /// Mean cross-entropy of the last outputs.
  double loss() const;
  /// Writes prefix-symbol.json, prefix.params (arg:/aux: names) and prefix.data (data and label).
  void save(const std::string& prefix) const;
};

/// The rate is small, so that two implementations stay comparable over many steps.
/// Binds `net` for `data` (batch first) and fills weights and data by a fixed formula.
Training make_training(const Symbol& net, const Shape& data, int classes);

}  // namespace symbind::bench
