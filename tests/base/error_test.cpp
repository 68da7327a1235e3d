#include "symbind/error.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "base/check.h"

namespace symbind {
namespace {

TEST(Error, keeps_kind_and_message) {
  const Error e(ErrorKind::kShape, "shapes (2,3) and (3,2) differ");
  EXPECT_EQ(e.kind(), ErrorKind::kShape);
  EXPECT_STREQ(e.what(), "shapes (2,3) and (3,2) differ");
}

TEST(Error, context_is_a_line_at_the_end) {
  const Error e = Error(ErrorKind::kIo, "first").with_context("in Convolution 'c1'");
  EXPECT_EQ(e.kind(), ErrorKind::kIo);
  EXPECT_STREQ(e.what(), "first\nin Convolution 'c1'");
}

TEST(Error, kinds_have_distinct_names) {
  std::set<std::string> names;
  for (int k = 0; k <= static_cast<int>(ErrorKind::kState); ++k)
    names.insert(kind_name(static_cast<ErrorKind>(k)));
  EXPECT_EQ(names.size(), 10u);
  EXPECT_STREQ(kind_name(ErrorKind::kNotImplemented), "NotImplementedError");
}

TEST(Check, throws_only_when_false) {
  EXPECT_NO_THROW(check(true, "never {}", 1));
  try {
    check(2 > 3, ErrorKind::kIndex, "[slice] axis {} out of range for rank {}", 4, 2);
    FAIL() << "no error";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::kIndex);
    EXPECT_STREQ(e.what(), "[slice] axis 4 out of range for rank 2");
  }
}

TEST(Check, kind_is_value_unless_said) {
  try {
    check(false, "plain");
    FAIL() << "no error";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::kValue);
  }
}

TEST(Check, assertion_names_condition_and_place) {
  EXPECT_NO_THROW(SYMBIND_ASSERT(1 + 1 == 2));
  try {
    SYMBIND_ASSERT(1 + 1 == 3);
    FAIL() << "no error";
  } catch (const Error& e) {
    const std::string text = e.what();
    EXPECT_NE(text.find("'1 + 1 == 3'"), std::string::npos) << text;
    EXPECT_NE(text.find("error_test.cpp:"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace symbind
