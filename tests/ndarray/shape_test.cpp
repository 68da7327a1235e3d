#include <gtest/gtest.h>

#include <symbind/dtype.h>
#include <symbind/error.h>
#include <symbind/shape.h>

namespace symbind {
namespace {

TEST(Shape, prints_as_python) {
  EXPECT_EQ(Shape({2, 3}).str(), "(2, 3)");
  EXPECT_EQ(Shape({5}).str(), "(5,)");
  EXPECT_EQ(Shape().str(), "()");
  EXPECT_EQ(Shape::of_rank(2).str(), "(?, ?)");
  EXPECT_EQ(Shape::unknown().str(), "?");
}

TEST(Shape, counts_elements) {
  EXPECT_EQ(Shape({2, 3, 4}).size(), 24);
  EXPECT_EQ(Shape({2, 3, 4}).count(1), 12);
  EXPECT_EQ(Shape({2, 3, 4}).count(0, 2), 6);
  EXPECT_EQ(Shape().size(), 1);
  EXPECT_EQ(Shape({0, std::int64_t{1} << 61, 8}).size(), 0);
}

TEST(Shape, merges_what_the_other_knows) {
  Shape a = Shape::of_rank(2);
  EXPECT_TRUE(merge(a, Shape({-1, 3})));
  EXPECT_EQ(a.str(), "(?, 3)");
  EXPECT_TRUE(merge(a, Shape({2, -1})));
  EXPECT_EQ(a, Shape({2, 3}));
  EXPECT_FALSE(merge(a, Shape({2, 4})));
  EXPECT_FALSE(merge(a, Shape({2, 3, 1})));
  EXPECT_EQ(a, Shape({2, 3}));
  Shape nothing = Shape::unknown();
  EXPECT_TRUE(merge(nothing, a));
  EXPECT_EQ(nothing, a);
  EXPECT_TRUE(merge(a, Shape::unknown()));
}

TEST(Shape, normalizes_axes) {
  EXPECT_EQ(normalize_axis(-1, 3), 2);
  EXPECT_EQ(normalize_axis(0, 3), 0);
  EXPECT_THROW(normalize_axis(3, 3), Error);
  EXPECT_THROW(normalize_axis(-4, 3), Error);
}

TEST(BadInputShape, too_many_elements_or_axes) {
  EXPECT_THROW(Shape({std::int64_t{1} << 40, std::int64_t{1} << 40}).size(), Error);
  EXPECT_THROW(Shape(std::vector<std::int64_t>(17, 1)), Error);
  EXPECT_THROW(Shape({-2}), Error);
  EXPECT_THROW(Shape::of_rank(2).size(), Error);
}

TEST(DType, names_flags_and_sizes) {
  EXPECT_EQ(dtype_from_name("float16"), DType::kFloat16);
  EXPECT_EQ(dtype_from_name("12"), DType::kBFloat16);
  EXPECT_EQ(dtype_name(DType::kUint64), "uint64");
  EXPECT_EQ(dtype_name(DType::kUnknown), "unknown");
  EXPECT_EQ(size_of(DType::kBool), 1u);
  EXPECT_EQ(size_of(DType::kUnknown), 0u);
  EXPECT_TRUE(is_float(DType::kBFloat16));
  EXPECT_FALSE(is_float(DType::kBool));
}

TEST(BadInputDType, unknown_name_gets_the_nearest) {
  try {
    dtype_from_name("flaot32");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kName);
    EXPECT_NE(std::string(error.what()).find("did you mean 'float32'"), std::string::npos)
        << error.what();
  }
  EXPECT_THROW(dtype_from_name("13"), Error);
  EXPECT_THROW(dtype_from_name(""), Error);
}

}  // namespace
}  // namespace symbind
