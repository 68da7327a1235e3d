#pragma once
// One product of float32 matrices through cuBLASLt, decided once and run often.
//
// Decided here: plain float32 arithmetic (no TF32). Of each product two algorithms are kept, one
// for 16-byte aligned operands and one for any, because bound arrays may be views; a run checks its
// pointers. A plan is plain bytes without handles, so threads may share it.

#include <cublasLt.h>

#include <cstddef>
#include <cstdint>
#include <optional>

namespace symbind::cublas {

/// D = op(A) op(B) in column-major order: D is m × n, and op(A) has k columns.
struct MatmulShape {
  bool transpose_a = false, transpose_b = false;
  std::int64_t m = 0, n = 0, k = 0;
  bool bias = false;  ///< one value per row of D is added
};

class Matmul {
 public:
  /// Nothing if cuBLASLt has no algorithm.
  static std::optional<Matmul> plan(const MatmulShape& shape);
  /// What run() needs at most, alignment included.
  std::size_t workspace_bytes() const { return workspace_bytes_; }
  void run(const void* a, const void* b, void* d, const void* bias, void* workspace,
           void* stream) const;

 private:
  cublasLtMatmulDescOpaque_t operation_{};
  cublasLtMatrixLayoutOpaque_t a_{}, b_{}, d_{};
  cublasLtMatmulAlgo_t aligned_{}, any_{};
  std::size_t workspace_bytes_ = 0;
  bool bias_ = false;
};

}  // namespace symbind::cublas
