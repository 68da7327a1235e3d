// Linked where oneDNN is not.
#include "kernels/onednn/gemm.h"

namespace symbind::onednn {

bool gemm(const GemmShape&, float, const float*, const float*, float, float*) { return false; }

}  // namespace symbind::onednn
