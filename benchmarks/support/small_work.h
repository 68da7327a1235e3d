#pragma once
// Two small pieces of work in which a cost per operator shows: a training step of an MLP at batch
// 10, and one addition of 64 floats.

#include "support/nets.h"
#include "support/report.h"
#include "support/training.h"

namespace symbind::bench {

struct SmallWork {
  static constexpr int kSteps = 300, kAdds = 20'000;
  Training mlp_b10 = make_training(mlp(), {10, 784}, 10);
  NDArray a = NDArray::zeros({64}), b = NDArray::zeros({64}), out = NDArray::zeros({64});

  /// Seconds of one.
  double step() {
    return time_once([&] {
             for (int i = 0; i < kSteps; ++i) mlp_b10.step();
           }) /
           kSteps;
  }
  double add() {
    return time_once([&] {
             for (int i = 0; i < kAdds; ++i) invoke("elemwise_add", {a, b}, {}, {out});
           }) /
           kAdds;
  }
};

}  // namespace symbind::bench
