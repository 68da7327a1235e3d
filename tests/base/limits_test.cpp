#include "base/limits.h"

#include <gtest/gtest.h>

#include "base/settings.h"

namespace symbind {
namespace {

TEST(BadInputLimits, the_message_names_the_limit_and_its_variable) {
  EXPECT_NO_THROW(check_limit(Limit::kNodeInputs, limit(Limit::kNodeInputs), "Concat 'c'"));
  const settings::override_for_test lowered("SYMBIND_LIMIT_NODE_INPUTS", "3");
  EXPECT_EQ(limit(Limit::kNodeInputs), 3);
  try {
    check_limit(Limit::kNodeInputs, 4, "Concat 'c'");
    FAIL();
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(),
                 "Concat 'c' has 4 inputs; the limit is 3 (the environment variable "
                 "SYMBIND_LIMIT_NODE_INPUTS sets it)");
  }
}

}  // namespace
}  // namespace symbind
