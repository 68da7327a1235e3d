#include "tests/module/recorded.h"

#include <gtest/gtest.h>

#include "tests/support/golden.h"

namespace symbind::recorded {

std::vector<Json> cases(const std::string& file) {
  return golden::read_json(golden::path_of(file)).at("cases").get<std::vector<Json>>();
}

Symbol symbol(const std::string& name) {
  return Symbol::load(golden::path_of("module/" + name + "-symbol.json"));
}

NDArrayMap first(const Json& one, const char* what) {
  NDArrayMap arrays;
  for (const Json& row : one.at(what))
    arrays[row.at("name").get<std::string>()] = golden::read_tensor(row).array();
  return arrays;
}

NDArray array(const Json& tensor) { return golden::read_tensor(tensor).array(); }

DataBatch batch(const Json& one, std::size_t step) {
  DataBatch made;
  const Shape shape(one.at("data").get<std::vector<std::int64_t>>());
  made.data = {HostTensor::formula(shape, one.at("data_seeds")[step].get<std::uint64_t>()).array()};
  if (one.contains("labels")) {
    made.label = {
        HostTensor({shape[0]}, one.at("labels")[step].get<std::vector<double>>()).array()};
  }
  return made;
}

OptimizerParams optimizer_params(const Json& params) {
  OptimizerParams made;
  for (const auto& [name, value] : params.items()) {
    if (value.is_boolean())
      made.emplace(name, value.get<bool>());
    else if (value.is_number_integer())
      made.emplace(name, value.get<std::int64_t>());
    else
      made.emplace(name, value.get<double>());
  }
  return made;
}

std::vector<Context> contexts(const Json& one) {
  std::vector<Context> all;
  for (int i = 0; i < one.at("devices").get<int>(); ++i) all.push_back(cpu(i));
  return all;
}

void expect_near(const NDArrayMap& got, const Json& wanted, double tolerance, const char* what) {
  EXPECT_EQ(got.size(), wanted.size()) << what;
  for (const auto& [name, tensor] : wanted.items()) {
    ASSERT_TRUE(got.contains(name)) << what << " " << name;
    const golden::Tensor want = golden::read_tensor(tensor);
    EXPECT_EQ(dtype_name(got.at(name).dtype()), dtype_name(want.dtype)) << what << " " << name;
    EXPECT_TRUE(golden::matches(HostTensor::from(got.at(name)), want, {tolerance, 0}))
        << what << " " << name;
  }
}

NDArrayMap outputs(const BaseModule& module) {
  const std::vector<std::string> names = module.output_names();
  const std::vector<NDArray> arrays = module.get_outputs();
  NDArrayMap named;
  for (std::size_t i = 0; i < names.size(); ++i) named[names[i]] = arrays[i];
  return named;
}

}  // namespace symbind::recorded
