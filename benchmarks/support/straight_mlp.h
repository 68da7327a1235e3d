#pragma once
// The forward and backward pass of the MLP as hand-written GEMM calls and loops: a lower bound for
// the time of any engine.

#include <vector>

namespace symbind::bench {

class StraightMlp {
 public:
  explicit StraightMlp(int batch);
  /// GEMMs, bias, ReLU, softmax and their gradients.
  void step() { run(true); }
  /// The same GEMMs and nothing else.
  void gemms() { run(false); }

 private:
  struct Layer {
    int in, out;
    std::vector<float> weight, bias, y, dy, dweight, dbias;
  };
  void run(bool all);

  int batch_;
  std::vector<float> x_;
  std::vector<Layer> layers_;
};

}  // namespace symbind::bench
