// Decided here: bfloat16 is for plans that never train, on CPUs that multiply it faster.
// Elsewhere a request for it computes in float32, and the plan says why.
#include "passes/compute_dtype.h"

#include <fmt/format.h>

#include "base/check.h"
#include "base/cpu_isa.h"
#include "base/settings.h"

namespace symbind {
namespace {

std::string_view reason_against(const BindSpec& spec) {
  if (spec.exact) return "exact numbers are requested";
  if (spec.context.type != DeviceType::kCpu) return "only the CPU has such kernels";
  if (!spec.predicts) return "the plan trains";
  if (spec.monitored) return "a monitor shows every output";
  if (!cpu_has_bfloat16())
    return "the CPU multiplies it no faster, or ONEDNN_MAX_CPU_ISA forbids it";
  return {};
}

}  // namespace

DType compute_dtype_of(std::string_view name) {
  const bool is_setting = name.empty();
  const std::string text = is_setting ? settings::text("SYMBIND_COMPUTE_DTYPE") : std::string(name);
  if (text == "float32") return DType::kFloat32;
  if (text == "bfloat16") return DType::kBFloat16;
  fail(ErrorKind::kName, "{} is '{}'; valid are float32 and bfloat16",
       is_setting ? "SYMBIND_COMPUTE_DTYPE" : "compute_dtype", text);
}

ComputeDType decide_compute_dtype(const BindSpec& spec) {
  if (spec.compute_dtype != DType::kBFloat16) return {};
  const std::string_view reason = reason_against(spec);
  if (reason.empty()) return {DType::kBFloat16, "computes in bfloat16 where kernels have it"};
  return {DType::kFloat32, fmt::format("computes in float32, not bfloat16: {}", reason)};
}

}  // namespace symbind
