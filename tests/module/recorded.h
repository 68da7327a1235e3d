#pragma once
// Reads tests/golden/module (tools/oracle/record_module.py) and compares with it.

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <symbind/module.h>

namespace symbind::recorded {

using Json = nlohmann::json;

/// The cases of a file, in order.
std::vector<Json> cases(const std::string& file);
/// The network `<name>-symbol.json`.
Symbol symbol(const std::string& name);
/// The first values of "params" or "aux".
NDArrayMap first(const Json& one, const char* what);
/// An array written out.
NDArray array(const Json& tensor);
/// Data by the seeds, labels as written out.
DataBatch batch(const Json& one, std::size_t step);
OptimizerParams optimizer_params(const Json& params);
std::vector<Context> contexts(const Json& one);
/// Expects max|a-b| <= tolerance * max|b| of each recorded array.
void expect_near(const NDArrayMap& got, const Json& wanted, double tolerance, const char* what);
/// Outputs by name.
NDArrayMap outputs(const BaseModule& module);

}  // namespace symbind::recorded
