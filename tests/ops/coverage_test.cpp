// Every operator that a user can call, and every fused one, has cases. An operator without kernels
// is replaced by a graph; the tests of that pass cover it.

#include <gtest/gtest.h>

#include <symbind/operator.h>

#include "tests/support/op_case.h"

namespace symbind {
namespace {

TEST(Ops, every_operator_has_a_case) {
  std::set<std::string> covered;
  for (const std::string& name : operators_with_cases()) {
    const OpDef* op = OpRegistry::global().find(name);
    EXPECT_NE(op, nullptr) << "cases of an unknown operator: " << name;
    if (op != nullptr) covered.insert(op->name);
  }
  std::string missing;
  for (const std::string& name : OpRegistry::global().names()) {
    const OpDef& op = *OpRegistry::global().find(name);
    if (!op.is_backward && !op.kernels.empty() && !covered.contains(name)) missing += " " + name;
  }
  EXPECT_EQ(missing, "") << "operators without a case in tests/ops";
}

}  // namespace
}  // namespace symbind
