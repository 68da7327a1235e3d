#include "kernels/onednn/gemm.h"

#include "base/check.h"
#include "base/signals.h"
#include "kernels/onednn/internal.h"

namespace symbind::onednn {

bool gemm(const GemmShape& s, float alpha, const float* a, const float* b, float beta, float* c) {
  engine();  // sets oneDNN's limits, which its first call makes final
  const int threads = VendorThreads::current();
  note_region(threads);
  const SignalsBlocked blocked;
  block_signals_in_workers(threads);
  const dnnl_status_t status = dnnl_sgemm(s.transpose_a ? 'T' : 'N', s.transpose_b ? 'T' : 'N', s.m,
                                          s.n, s.k, alpha, a, s.lda, b, s.ldb, beta, c, s.ldc);
  check(status == dnnl_success, ErrorKind::kState, "oneDNN failed with status {}",
        static_cast<int>(status));
  return true;
}

}  // namespace symbind::onednn
