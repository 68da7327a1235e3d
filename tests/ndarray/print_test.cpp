// Every expected text was printed by NumPy 1.23.
#include <gtest/gtest.h>

#include <limits>

#include <symbind/ndarray.h>

namespace symbind {
namespace {

/// NumPy's part of the text.
std::string body(const NDArray& array) {
  const std::string text = array.str();
  return text.substr(1, text.rfind('\n') - 1);
}

TEST(Print, has_mxnets_frame) {
  EXPECT_EQ(NDArray::zeros({2, 3}).str(), "\n[[0. 0. 0.]\n [0. 0. 0.]]\n<NDArray 2x3 @cpu(0)>");
  EXPECT_EQ(NDArray::ones({1}, cpu(3)).str(), "\n[1.]\n<NDArray 1 @cpu(3)>");
}

TEST(Print, softmax_of_s27) {
  const NDArray a({0.00378404f, 0.07600445f, 0.07600445f, 0.07600445f, 0.20660152f, 0.5616011f},
                  {1, 6});
  EXPECT_EQ(body(a), "[[0.00378404 0.07600445 0.07600445 0.07600445 0.20660152 0.5616011 ]]");
}

TEST(Print, floats_share_one_width) {
  EXPECT_EQ(body(NDArray({1, -2.5, 0.125, 100}, {2, 2})),
            "[[  1.     -2.5  ]\n [  0.125 100.   ]]");
  EXPECT_EQ(body(NDArray({0.1f, 0.3f}, {2})), "[0.1 0.3]");
  EXPECT_EQ(body(NDArray({16777216, 33554432}, {2})), "[16777216. 33554432.]");
  EXPECT_EQ(body(NDArray::from_vector<double>({1.0 / 3, 2.0 / 3}, {2})), "[0.33333333 0.66666667]");
  EXPECT_EQ(body(NDArray({0.1f, 2.5f, -7}, {3}).astype(DType::kFloat16)), "[ 0.1  2.5 -7. ]");
  EXPECT_EQ(body(NDArray({0.1f, 2.5f, -7}, {3}).astype(DType::kBFloat16)), "[ 0.1  2.5 -7. ]");
}

TEST(Print, large_ratios_turn_scientific) {
  EXPECT_EQ(body(NDArray({1e-5f, 1, 1000}, {3})), "[1.e-05 1.e+00 1.e+03]");
  EXPECT_EQ(body(NDArray({1e8f, 1}, {2})), "[1.e+08 1.e+00]");
  EXPECT_EQ(body(NDArray::from_vector<double>({123456789.123456789, 0.1}, {2})),
            "[1.23456789e+08 1.00000000e-01]");
}

TEST(Print, non_finite_numbers_widen_the_field) {
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(body(NDArray({std::numeric_limits<float>::quiet_NaN(), -infinity, 1.5f}, {3})),
            "[ nan -inf  1.5]");
}

TEST(Print, integers_and_bools) {
  EXPECT_EQ(body(NDArray({-1, 20, 300, 4}, {2, 2}).astype(DType::kInt32)),
            "[[ -1  20]\n [300   4]]");
  EXPECT_EQ(body(NDArray({1, 0}, {2}).astype(DType::kBool)), "[ True False]");
  EXPECT_EQ(body(NDArray::from_vector<std::uint64_t>({18446744073709551615u, 1}, {2})),
            "[18446744073709551615                    1]");
}

TEST(Print, nested_and_wrapped) {
  EXPECT_EQ(body(NDArray::arange(0, 8).reshape({2, 2, 2})),
            "[[[0. 1.]\n  [2. 3.]]\n\n [[4. 5.]\n  [6. 7.]]]");
  EXPECT_EQ(body(NDArray::arange(0, 30)),
            "[ 0.  1.  2.  3.  4.  5.  6.  7.  8.  9. 10. 11. 12. 13. 14. 15. 16. 17.\n"
            " 18. 19. 20. 21. 22. 23. 24. 25. 26. 27. 28. 29.]");
}

TEST(Print, more_than_a_thousand_are_summarised) {
  EXPECT_EQ(body(NDArray::arange(0, 1001)), "[   0.    1.    2. ...  998.  999. 1000.]");
  EXPECT_EQ(body(NDArray::arange(0, 40000).reshape({200, 200})),
            R"([[0.0000e+00 1.0000e+00 2.0000e+00 ... 1.9700e+02 1.9800e+02 1.9900e+02]
 [2.0000e+02 2.0100e+02 2.0200e+02 ... 3.9700e+02 3.9800e+02 3.9900e+02]
 [4.0000e+02 4.0100e+02 4.0200e+02 ... 5.9700e+02 5.9800e+02 5.9900e+02]
 ...
 [3.9400e+04 3.9401e+04 3.9402e+04 ... 3.9597e+04 3.9598e+04 3.9599e+04]
 [3.9600e+04 3.9601e+04 3.9602e+04 ... 3.9797e+04 3.9798e+04 3.9799e+04]
 [3.9800e+04 3.9801e+04 3.9802e+04 ... 3.9997e+04 3.9998e+04 3.9999e+04]])");
}

TEST(Print, scalars_and_nothing) {
  EXPECT_EQ(body(NDArray::full({}, 1.5)), "1.5");
  EXPECT_EQ(body(NDArray::full({}, 1e-7)), "1e-07");
  EXPECT_EQ(body(NDArray::full({}, 874584400)), "874584400.0");
  EXPECT_EQ(body(NDArray::full({}, 1, cpu(), DType::kBool)), "True");
  EXPECT_EQ(body(NDArray::full({}, -3, cpu(), DType::kInt8)), "-3");
  EXPECT_EQ(body(NDArray::zeros({0, 3})), "[]");
}

}  // namespace
}  // namespace symbind
