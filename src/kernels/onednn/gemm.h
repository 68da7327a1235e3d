// The product of kernels/gemm.h through oneDNN.
#pragma once

#include "kernels/gemm.h"

namespace symbind::onednn {

/// False if the library is built without oneDNN; then nothing was computed.
bool gemm(const GemmShape& s, float alpha, const float* a, const float* b, float beta, float* c);

}  // namespace symbind::onednn
