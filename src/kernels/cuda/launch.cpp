#include "kernels/cuda/launch.h"

#include <cuda_runtime_api.h>

#include "base/check.h"

namespace symbind::cuda {

void check_launch(int status, const char* kernel) {
  if (status == cudaSuccess) [[likely]]
    return;
  const auto error = static_cast<cudaError_t>(status);
  fail(ErrorKind::kState, "the CUDA kernel {} could not be launched: {} ({})", kernel,
       cudaGetErrorString(error), cudaGetErrorName(error));
}

Offer offer_floats(const KernelRequest& request, std::size_t workspace_bytes) {
  for (const TensorDesc& t : request.in) {
    if (t.dtype != DType::kFloat32 && t.dtype != DType::kFloat64)
      return refuse("float32 and float64 only");
  }
  return accept_plain(request, workspace_bytes);
}

Number number_of(DType dtype) {
  return dtype == DType::kFloat64 ? Number::kDouble : Number::kFloat;
}

}  // namespace symbind::cuda
