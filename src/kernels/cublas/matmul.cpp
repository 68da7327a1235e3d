#include "kernels/cublas/matmul.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <span>

#include "base/check.h"

namespace symbind::cublas {
namespace {

constexpr std::size_t kMostWorkspace = std::size_t{32} << 20;
constexpr std::size_t kWorkspaceAlignment = 256;
constexpr std::uint32_t kAligned = 16;
constexpr int kCandidates = 16;
constexpr std::int64_t kShortestPart = 64;

void check_cublas(cublasStatus_t status, const char* call) {
  if (status == CUBLAS_STATUS_SUCCESS) [[likely]]
    return;
  fail(status == CUBLAS_STATUS_ALLOC_FAILED ? ErrorKind::kMemory : ErrorKind::kState,
       "{} failed: {}", call, cublasLtGetStatusString(status));
}

/// The current device's handle, made at its first use and kept.
cublasLtHandle_t handle() {
  static std::array<std::atomic<cublasLtHandle_t>, 64> handles{};
  static std::mutex making;
  int device = 0;
  check(cudaGetDevice(&device) == cudaSuccess && device < 64, ErrorKind::kState,
        "cuBLASLt: no current CUDA device");
  auto& slot = handles[static_cast<std::size_t>(device)];
  if (cublasLtHandle_t made = slot.load(std::memory_order_acquire)) [[likely]]
    return made;
  const std::lock_guard lock(making);
  if (cublasLtHandle_t made = slot.load(std::memory_order_acquire)) return made;
  cublasLtHandle_t made = nullptr;
  check_cublas(cublasLtCreate(&made), "cublasLtCreate");
  slot.store(made, std::memory_order_release);
  return made;
}

template <class T>
void set(cublasLtMatmulDescOpaque_t& operation, cublasLtMatmulDescAttributes_t what, const T& to) {
  check_cublas(cublasLtMatmulDescSetAttribute(&operation, what, &to, sizeof to),
               "cublasLtMatmulDescSetAttribute");
}

template <class T>
void set(cublasLtMatmulPreferenceOpaque_t& preference, cublasLtMatmulPreferenceAttributes_t what,
         const T& to) {
  check_cublas(cublasLtMatmulPreferenceSetAttribute(&preference, what, &to, sizeof to),
               "cublasLtMatmulPreferenceSetAttribute");
}

cublasLtMatrixLayoutOpaque_t layout(std::int64_t rows, std::int64_t columns) {
  cublasLtMatrixLayoutOpaque_t made{};
  check_cublas(cublasLtMatrixLayoutInit(&made, CUDA_R_32F, static_cast<std::uint64_t>(rows),
                                        static_cast<std::uint64_t>(columns), rows),
               "cublasLtMatrixLayoutInit");
  return made;
}

/// Into how many parts the sum over k is split.
std::int64_t parts_of(const cublasLtMatmulAlgo_t& algorithm) {
  std::int32_t parts = 1;
  std::size_t written = 0;
  check_cublas(cublasLtMatmulAlgoConfigGetAttribute(&algorithm, CUBLASLT_ALGO_CONFIG_SPLITK_NUM,
                                                    &parts, sizeof parts, &written),
               "cublasLtMatmulAlgoConfigGetAttribute");
  return std::max(parts, 1);
}

/// cuBLASLt's first choice whose parts of the sum are long enough: for a small layer at a small
/// batch its first choice may split 784 into 264 parts, which takes four times as long.
const cublasLtMatmulHeuristicResult_t& choose(
    std::span<const cublasLtMatmulHeuristicResult_t> found, std::int64_t k) {
  const auto* least = &found.front();
  for (const auto& candidate : found) {
    const std::int64_t parts = parts_of(candidate.algo);
    if (parts == 1 || parts * kShortestPart <= k) return candidate;
    if (parts < parts_of(least->algo)) least = &candidate;
  }
  return *least;
}

bool is_aligned(const void* p) { return reinterpret_cast<std::uintptr_t>(p) % kAligned == 0; }

void* round_up(void* p) {
  const auto at = reinterpret_cast<std::uintptr_t>(p);
  return reinterpret_cast<void*>((at + kWorkspaceAlignment - 1) / kWorkspaceAlignment *
                                 kWorkspaceAlignment);
}

}  // namespace

std::optional<Matmul> Matmul::plan(const MatmulShape& s) {
  Matmul made;
  made.bias_ = s.bias;
  check_cublas(cublasLtMatmulDescInit(&made.operation_, CUBLAS_COMPUTE_32F, CUDA_R_32F),
               "cublasLtMatmulDescInit");
  set(made.operation_, CUBLASLT_MATMUL_DESC_TRANSA, s.transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N);
  set(made.operation_, CUBLASLT_MATMUL_DESC_TRANSB, s.transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N);
  if (s.bias) set(made.operation_, CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_BIAS);
  made.a_ = s.transpose_a ? layout(s.k, s.m) : layout(s.m, s.k);
  made.b_ = s.transpose_b ? layout(s.n, s.k) : layout(s.k, s.n);
  made.d_ = layout(s.m, s.n);
  const auto find = [&](std::uint32_t alignment, cublasLtMatmulAlgo_t& algorithm) {
    cublasLtMatmulPreferenceOpaque_t preference{};
    check_cublas(cublasLtMatmulPreferenceInit(&preference), "cublasLtMatmulPreferenceInit");
    set(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, kMostWorkspace);
    set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, alignment);
    set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, alignment);
    set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, alignment);
    set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, alignment);
    std::array<cublasLtMatmulHeuristicResult_t, kCandidates> found{};
    int count = 0;
    const cublasStatus_t status =
        cublasLtMatmulAlgoGetHeuristic(handle(), &made.operation_, &made.a_, &made.b_, &made.d_,
                                       &made.d_, &preference, kCandidates, found.data(), &count);
    if (status == CUBLAS_STATUS_NOT_SUPPORTED || (status == CUBLAS_STATUS_SUCCESS && count == 0))
      return false;
    check_cublas(status, "cublasLtMatmulAlgoGetHeuristic");
    const auto& best = choose({found.data(), static_cast<std::size_t>(count)}, s.k);
    algorithm = best.algo;
    made.workspace_bytes_ = std::max(made.workspace_bytes_, best.workspaceSize);
    return true;
  };
  if (!find(kAligned, made.aligned_) || !find(sizeof(float), made.any_)) return std::nullopt;
  if (made.workspace_bytes_ > 0) made.workspace_bytes_ += kWorkspaceAlignment;
  return made;
}

void Matmul::run(const void* a, const void* b, void* d, const void* bias, void* workspace,
                 void* stream) const {
  const float one = 1, zero = 0;
  // cuBLASLt takes mutable descriptions; a copy is a few words.
  cublasLtMatmulDescOpaque_t operation = operation_;
  cublasLtMatrixLayoutOpaque_t a_layout = a_, b_layout = b_, d_layout = d_;
  if (bias_) set(operation, CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias);
  const bool aligned = is_aligned(a) && is_aligned(b) && is_aligned(d);
  const std::size_t bytes = workspace_bytes_ > 0 ? workspace_bytes_ - kWorkspaceAlignment : 0;
  check_cublas(cublasLtMatmul(handle(), &operation, &one, a, &a_layout, b, &b_layout, &zero, d,
                              &d_layout, d, &d_layout, aligned ? &aligned_ : &any_,
                              bytes > 0 ? round_up(workspace) : nullptr, bytes,
                              static_cast<cudaStream_t>(stream)),
               "cublasLtMatmul");
}

}  // namespace symbind::cublas
