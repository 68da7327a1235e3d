#pragma once
// Reads the recordings of tests/golden; tools/oracle/README.md describes their format.

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <symbind/attributes.h>

#include "tests/support/host_tensor.h"

namespace symbind::golden {

/// All numbers, or for larger tensors their norm, their largest magnitude and 64 of them.
struct Tensor {
  std::string name;
  Shape shape;
  DType dtype = DType::kFloat32;
  std::optional<HostTensor> all;
  double norm = 0, max = 0;
  std::vector<double> sample;
  std::string req = {};                   ///< of a gradient
  std::optional<HostTensor> before = {};  ///< what its array held, for req "add"

  NDArray array() const { return all.value().array(dtype); }
};
using Tensors = std::vector<Tensor>;

/// Norms may differ by as much, relatively, as elements may.
::testing::AssertionResult matches(const HostTensor& got, const Tensor& want, Tolerance tolerance);
/// What recorded values in a type are held to: float32 1e-5, float64 1e-10, float16 2e-3 of the
/// largest, plus something tiny; integers must be equal.
Tolerance recorded_tolerance(DType dtype);

struct Run {
  bool is_train = false;
  bool has_backward = false;
  Tensors outputs, heads, grads, aux, inputs_after;
};

struct Case {
  std::string name, op;
  AttrDict attrs;
  Tensors inputs, aux;
  std::vector<Run> runs;
  std::vector<std::string> outs;  ///< of an imperative case: the inputs that were given as out=
  int repeat = 0;                 ///< of an imperative case: how often it is called
  Tensors after;                  ///< the named inputs then
};

/// Paths of ops/*.json, sorted.
std::vector<std::string> operator_files();
std::vector<Case> read_cases(const std::string& path);
/// The recorded cases of one operator, from its own file or the families'.
std::vector<Case> cases_of(const std::string& op);

Tensor read_tensor(const nlohmann::json& j);
nlohmann::json read_json(const std::string& path);
/// tests/golden/<name>.
std::string path_of(const std::string& name);

}  // namespace symbind::golden
