#include "tests/support/golden.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <stdexcept>

#include <nlohmann/json.hpp>

#include <gtest/gtest.h>

#include "tests/support/formula.h"
#include "tests/support/source_path.h"

namespace symbind::golden {

using nlohmann::json;

std::string path_of(const std::string& name) { return source_path("tests/golden/" + name); }

json read_json(const std::string& path) {
  std::ifstream in(path);
  if (!in) throw std::runtime_error("cannot read " + path);
  return json::parse(in);
}

namespace {

double number(const json& j) {
  if (!j.is_string()) return j.get<double>();
  const auto text = j.get<std::string>();
  return text == "nan" ? std::nan("") : text == "inf" ? HUGE_VAL : -HUGE_VAL;
}

std::vector<double> numbers(const json& j) {
  std::vector<double> out;
  for (const json& v : j) out.push_back(number(v));
  return out;
}

HostTensor by_formula(const json& j, const Shape& shape, DType dtype) {
  return HostTensor::formula(shape, j.at("seed").get<std::uint64_t>(), j.at("lo").get<double>(),
                             j.at("hi").get<double>())
      .rounded(dtype);
}

Tensors read_tensors(const json& j) {
  Tensors out;
  for (const json& t : j) out.push_back(read_tensor(t));
  return out;
}

Run read_run(const json& j) {
  Run run;
  run.is_train = j.at("is_train").get<bool>();
  run.outputs = read_tensors(j.at("outputs"));
  run.has_backward = j.contains("heads");
  run.heads = read_tensors(j.value("heads", json::array()));
  run.grads = read_tensors(j.value("grads", json::array()));
  run.aux = read_tensors(j.value("aux", json::array()));
  run.inputs_after = read_tensors(j.value("inputs_after", json::array()));
  return run;
}

Case read_case(const json& j) {
  Case c;
  c.name = j.at("name").get<std::string>();
  c.op = j.at("op").get<std::string>();
  c.attrs = j.at("attrs").get<AttrDict>();
  c.inputs = read_tensors(j.at("inputs"));
  c.aux = read_tensors(j.value("aux", json::array()));
  for (const json& run : j.value("runs", json::array())) c.runs.push_back(read_run(run));
  if (j.contains("imperative")) {
    const json& out = j["imperative"].at("out");
    c.outs =
        out.is_array() ? out.get<std::vector<std::string>>() : std::vector{out.get<std::string>()};
    c.repeat = j["imperative"].at("repeat").get<int>();
    c.after = read_tensors(j["imperative"].at("after"));
  }
  return c;
}

}  // namespace

Tensor read_tensor(const json& j) {
  Tensor t;
  t.name = j.value("name", "");
  t.shape = Shape(j.at("shape").get<std::vector<std::int64_t>>());
  t.dtype = dtype_from_name(j.at("dtype").get<std::string>());
  t.req = j.value("req", "");
  if (j.contains("before")) t.before = read_tensor(j["before"]).all;
  if (j.contains("seed")) {
    t.all = by_formula(j, t.shape, t.dtype);
  } else if (j.contains("values")) {
    t.all = HostTensor(t.shape, numbers(j["values"]));
  } else {
    t.norm = number(j.at("norm"));
    t.max = number(j.at("max"));
    t.sample = numbers(j.at("sample"));
  }
  return t;
}

Tolerance recorded_tolerance(DType dtype) {
  switch (dtype) {
    case DType::kFloat64: return {1e-10, 1e-14};
    case DType::kFloat32: return {1e-5, 1e-7};
    case DType::kFloat16: return {2e-3, 1e-4};
    default: return {};
  }
}

::testing::AssertionResult matches(const HostTensor& got, const Tensor& want, Tolerance tolerance) {
  if (want.all) return near(got, *want.all, tolerance);
  if (got.shape != want.shape) {
    return ::testing::AssertionFailure()
           << "shape " << got.shape.str() << ", MXNet has " << want.shape.str();
  }
  const double bound = tolerance.relative * want.max + tolerance.absolute;
  const std::uint64_t n = got.size();
  double squares = 0;
  for (const double v : got.values) squares += v * v;
  const double norm = std::sqrt(squares);
  for (std::size_t k = 0; k < want.sample.size(); ++k) {
    const std::uint64_t at = n <= 64 ? k : formula::bits(n, k) % n;
    const double a = got[at], b = want.sample[k];
    if (std::abs(a - b) <= bound || a == b || (std::isnan(a) && std::isnan(b))) continue;
    return ::testing::AssertionFailure()
           << "element " << at << " is " << ::testing::PrintToString(a) << ", MXNet has "
           << ::testing::PrintToString(b) << ": " << std::abs(a - b) / want.max
           << " of the largest, allowed " << tolerance.relative;
  }
  if (std::abs(norm - want.norm) > tolerance.relative * want.norm + tolerance.absolute * 64) {
    return ::testing::AssertionFailure() << "norm " << norm << ", MXNet has " << want.norm;
  }
  if (std::abs(got.largest() - want.max) > bound) {
    return ::testing::AssertionFailure()
           << "largest magnitude " << got.largest() << ", MXNet has " << want.max;
  }
  return ::testing::AssertionSuccess();
}

std::vector<std::string> operator_files() {
  std::vector<std::string> paths;
  for (const auto& file : std::filesystem::directory_iterator(path_of("ops")))
    if (file.path().extension() == ".json") paths.push_back(file.path().string());
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::vector<Case> read_cases(const std::string& path) {
  std::vector<Case> cases;
  const json file = read_json(path);
  for (const json& c : file.at("cases")) cases.push_back(read_case(c));
  return cases;
}

std::vector<Case> cases_of(const std::string& op) {
  const std::string own = path_of("ops/" + op + ".json");
  std::vector<Case> found;
  for (Case& c : read_cases(std::filesystem::exists(own) ? own : path_of("ops/families.json"))) {
    if (c.op == op) found.push_back(std::move(c));
  }
  return found;
}

}  // namespace symbind::golden
