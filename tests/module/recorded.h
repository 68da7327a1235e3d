#pragma once
// Reads tests/golden/module (tools/oracle/record_module.py) and compares with it.

#include <regex>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <symbind/module.h>

namespace symbind::recorded {

using Json = nlohmann::json;

/// The cases of a file below tests/golden, in order.
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

inline bool every(const Json&) { return true; }

/// A test for each case of a file that is `chosen`, named after it.
template <class Body>
bool add_tests(const char* suite, const char* file, Body body,
               bool (*chosen)(const Json& one) = every) {
  struct Recorded final : testing::Test {
    Recorded(Body b, Json j) : body(b), one(std::move(j)) {}
    void TestBody() override { body(one); }
    Body body;
    Json one;
  };
  for (const Json& one : cases(file)) {
    if (!chosen(one)) continue;
    const std::string name =
        std::regex_replace(one.at("name").get<std::string>(), std::regex("[^a-z0-9]+"), "_");
    testing::RegisterTest(suite, name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                          [body, one]() -> testing::Test* { return new Recorded(body, one); });
  }
  return true;
}

}  // namespace symbind::recorded
