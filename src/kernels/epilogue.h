// Runs an epilogue as a pass of its own over a finished output: for the operations that the kernel
// before it cannot do while it writes.
#pragma once

#include <symbind/epilogue.h>
#include <symbind/kernel.h>

namespace symbind {

namespace vector {
struct ActivationLoops;
}

/// An epilogue with the places of its operands among a kernel's inputs.
class EpiloguePass {
 public:
  EpiloguePass() = default;
  /// `y` is the output with its final layout; its channels are axis 1, of a matrix the columns. The
  /// operands begin at input `first_operand` and follow one another.
  EpiloguePass(Epilogue items, int first_operand, const TensorDesc& y,
               const KernelRequest& request);

  const Epilogue& items() const { return items_; }
  /// The first operand of item i.
  int operand(std::size_t i) const { return operands_[i]; }
  /// Whether an item's slopes are a single number.
  bool is_shared(std::size_t i) const { return shared_[i]; }
  /// Applies items from `first` on to y, in place, over threads.
  void run(const Args& args, float* y, std::size_t first) const;

 private:
  void run_row(const Args& args, float* y, std::int64_t row, std::size_t first) const;
  /// Item i on n elements from `place` on, the first of which belongs to `channel`.
  void apply(std::size_t i, const Args& args, std::int64_t place, std::int64_t n,
             std::int64_t channel, float* y) const;
  void normalize(const EpilogueItem& item, const Args& args, int operand, std::int64_t n,
                 std::int64_t channel, float* y) const;

  Epilogue items_;
  std::vector<const vector::ActivationLoops*> functions_;  ///< null where there is none
  using Binary = void (*)(const void* a, const void* b, void* y, std::int64_t n);
  Binary add_ = nullptr, multiply_ = nullptr;
  void (*prelu_)(const float* x, const float* slopes, float* y, std::int64_t rows,
                 std::int64_t columns) = nullptr;
  std::vector<int> operands_;
  std::vector<bool> shared_;
  /// y as rows; element j of row r has channel (r · row_channels) % channels + j % period.
  std::int64_t rows_ = 0, length_ = 0, period_ = 1, channels_ = 1, row_channels_ = 0;
};

}  // namespace symbind
