#pragma once
// Autograd: operators that run while a thread records leave a tape, and backward walks it.
//
//   NDArray x({1, 2, 3}, {3});
//   x.attach_grad();
//   NDArray y;
//   {
//     const autograd::Record record;
//     y = sum(x * x);
//   }
//   y.backward();
//   x.grad();  // 2 4 6
//
// The arrays computed by a tape own it: it is freed by backward (unless retain_graph), or with the
// last array recorded on it. The modes are thread-local.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <symbind/ndarray.h>

namespace symbind {

class Symbol;

namespace autograd {

bool is_recording();
/// Whether operators run as in training: Dropout drops, BatchNorm uses the batch.
bool is_training();
/// Sets the mode of this thread; returns the previous one.
bool set_recording(bool on);
bool set_training(bool on);

/// Sets the given modes for a block; restores the previous ones at its end.
class Scope {
 public:
  Scope(std::optional<bool> recording, std::optional<bool> training);
  ~Scope();
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  bool recording_, training_;
};
struct Record : Scope {
  explicit Record(bool train_mode = true) : Scope(true, train_mode) {}
};
struct Pause : Scope {
  explicit Pause(bool train_mode = false) : Scope(false, train_mode) {}
};
struct TrainMode : Scope {
  TrainMode() : Scope(std::nullopt, true) {}
};
struct PredictMode : Scope {
  PredictMode() : Scope(std::nullopt, false) {}
};

/// Makes the arrays variables, each with the array its gradient goes to and "write", "add" or
/// "null"; a single grad_req applies to all. They lose any earlier record.
void mark_variables(const std::vector<NDArray*>& variables, const std::vector<NDArray>& gradients,
                    const std::vector<std::string>& grad_reqs = {"write"});

struct BackwardOptions {
  std::vector<NDArray> head_grads = {};  ///< by head; ones where absent or undefined
  bool retain_graph = false;             ///< the tape can be walked again
  bool train_mode = true;                ///< of the operators of the gradient
};
/// Writes (or adds) the gradients of all variables the heads depend on.
void backward(const std::vector<NDArray>& heads, const BackwardOptions& options = {});

struct GradOptions {
  std::vector<NDArray> head_grads = {};
  std::optional<bool> retain_graph = {};  ///< unless given: create_graph
  bool create_graph = false;              ///< the gradients are recorded, to be differentiated
  bool train_mode = true;
};
/// The gradients for `variables`, which must be marked; their own gradient arrays stay untouched.
std::vector<NDArray> grad(const std::vector<NDArray>& heads, const std::vector<NDArray>& variables,
                          const GradOptions& options = {});

/// What was recorded for `x`, as a symbol: variables are var0, var1, …, nodes node_0, node_1, ….
Symbol get_symbol(const NDArray& x);

/// A computation with a custom gradient. An object serves one call; forward may keep what
/// backward needs.
class Function {
 public:
  virtual ~Function() = default;
  /// Runs unrecorded; the whole becomes one node of the tape.
  virtual std::vector<NDArray> forward(const std::vector<NDArray>& inputs) = 0;
  /// As many gradients as there were inputs, given those of the outputs.
  virtual std::vector<NDArray> backward(const std::vector<NDArray>& head_grads) = 0;
};
std::vector<NDArray> call(std::shared_ptr<Function> function, const std::vector<NDArray>& inputs);

}  // namespace autograd
}  // namespace symbind
