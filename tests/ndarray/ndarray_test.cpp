#include <gtest/gtest.h>

#include <symbind/ndarray.h>

namespace symbind {
namespace {

using Floats = std::vector<float>;

TEST(NDArray, is_made_filled) {
  EXPECT_EQ(NDArray::zeros({2, 2}).to_vector<float>(), (Floats{0, 0, 0, 0}));
  EXPECT_EQ(NDArray::ones({3}, cpu(1), DType::kInt8).to_vector<int>(), (std::vector<int>{1, 1, 1}));
  EXPECT_EQ(NDArray::full({2}, -0.5).to_vector<float>(), (Floats{-0.5f, -0.5f}));
  EXPECT_EQ(NDArray::arange(1, 6, 2).to_vector<float>(), (Floats{1, 3, 5}));
  EXPECT_EQ(NDArray::arange(3, 0, -1.5).to_vector<float>(), (Floats{3, 1.5}));
  EXPECT_EQ(NDArray::arange(3, 3).size(), 0);
  EXPECT_EQ(NDArray({1, 2, 3}, {3, 1}).to_vector<double>(), (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(NDArray::from_vector<std::int64_t>({7, 8}, {2}).dtype(), DType::kInt64);
}

TEST(NDArray, takes_the_current_context) {
  const ContextScope scope(cpu(2));
  EXPECT_EQ(NDArray::zeros({1}).context(), cpu(2));
  EXPECT_EQ(NDArray({1}, {1}).context(), cpu(2));
}

TEST(NDArray, nothing_at_all) {
  const NDArray none;
  EXPECT_FALSE(none.defined());
  EXPECT_EQ(none.size(), 0);
  none.wait_to_read();
  EXPECT_THROW(none.context(), Error);
  EXPECT_THROW(none.copy(), Error);
  EXPECT_THROW(none.scalar(), Error);
}

TEST(NDArray, empty_extents_and_scalars_are_arrays) {
  const NDArray empty = NDArray::zeros({0, 3});
  EXPECT_TRUE(empty.defined());
  EXPECT_EQ(empty.copy().to_vector<float>(), Floats{});
  EXPECT_EQ(NDArray::full({}, 2.5).scalar(), 2.5);
}

TEST(NDArray, slices_and_reshapes_write_through) {
  NDArray a = NDArray::arange(0, 6).reshape(Shape{3, 2});
  NDArray row = a.at(-1);
  EXPECT_EQ(row.shape(), Shape({2}));
  EXPECT_TRUE(row.aliases(a));
  EXPECT_FALSE(a.at(0).aliases(row));
  row.set(9);
  a.slice(0, 1).set({Index(0), Index(1)}, 7);
  a.reshape({-1}).set({Index(2)}, 8);
  EXPECT_EQ(a.to_vector<float>(), (Floats{0, 7, 8, 3, 9, 9}));
  EXPECT_EQ(a.slice(1, 1).size(), 0);
  EXPECT_EQ(a.slice(-2, -1).to_vector<float>(), (Floats{8, 3}));
}

TEST(NDArray, copies_between_contexts_and_types) {
  const NDArray a({1.5, -2.5}, {2});
  NDArray b = NDArray::zeros({2}, cpu(1), DType::kInt32);
  a.copy_to(b);
  EXPECT_EQ(b.to_vector<int>(), (std::vector<int>{1, -2}));
  EXPECT_EQ(b.context(), cpu(1));
  EXPECT_TRUE(a.as_in_context(cpu()).aliases(a));
  EXPECT_FALSE(a.as_in_context(cpu(1)).aliases(a));
  EXPECT_EQ(a.as_in_context(cpu(1)).context(), cpu(1));
  EXPECT_TRUE(a.astype(DType::kFloat32, false).aliases(a));
  EXPECT_FALSE(a.astype(DType::kFloat32).aliases(a));
  EXPECT_FALSE(a.copy().aliases(a));
}

TEST(NDArray, overlapping_copies_are_right) {
  const NDArray a = NDArray::arange(0, 5);
  a.slice(0, 4).copy_to(a.slice(1, 5));
  EXPECT_EQ(a.to_vector<float>(), (Floats{0, 0, 1, 2, 3}));
}

// MXNet's own table of reshape codes (its test_reshape), and what its implementation gets wrong.
struct ReshapeCase {
  Shape from;
  std::vector<std::int64_t> codes;
  bool reverse;
  Shape to;
};

TEST(NDArray, reshape_codes) {
  const ReshapeCase cases[] = {
      {{2, 3, 5, 5}, {0, -1}, false, {2, 75}},
      {{5, 3, 4, 5}, {0, -1, 0}, false, {5, 15, 4}},
      {{2, 3, 5, 4}, {-1, 0, 0}, false, {8, 3, 5}},
      {{2, 4, 5, 3}, {-1, 2, 2, 1}, false, {30, 2, 2, 1}},
      {{2, 3, 5, 6}, {-2}, false, {2, 3, 5, 6}},
      {{2, 3, 5, 6}, {6, 1, -2}, false, {6, 1, 5, 6}},
      {{2, 3, 5, 6}, {-3, -3}, false, {6, 30}},
      {{2, 3, 5, 6}, {-3, -1}, false, {6, 30}},
      {{64}, {-4, 16, 4}, false, {16, 4}},
      {{64, 1, 2, 3}, {-4, 16, -1, -2}, false, {16, 4, 1, 2, 3}},
      {{2, 3, 5, 5}, {0, -1}, true, {5, 30}},
      {{5, 3, 4, 5}, {0, -1, 0}, true, {3, 20, 5}},
      {{2, 3, 5, 4}, {-1, 0, 0}, true, {6, 5, 4}},
      {{2, 3, 5, 5}, {5, 3, 0, -1}, true, {5, 3, 5, 2}},
      {{2, 3, 5, 6}, {-2, 1, 30}, true, {2, 3, 1, 30}},
      {{64}, {16, -1, -4}, true, {16, 4}},
      {{1, 2, 3, 64}, {-2, -1, 16, -4}, true, {1, 2, 3, 4, 16}},
      // MXNet 1.9.1 fails on these.
      {{2, 3, 4}, {-4, 1, 2, -1}, false, {1, 2, 12}},
      {{2, 3, 4}, {-2, -1}, false, {2, 3, 4, 1}},
      {{2, 3, 4}, {0, -4, -1, 1, -1}, false, {2, 3, 1, 4}},
  };
  for (const ReshapeCase& c : cases) {
    const NDArray view = NDArray::zeros(c.from).reshape(c.codes, c.reverse);
    EXPECT_EQ(view.shape().str(), c.to.str()) << c.from.str();
  }
}

void expect_shape_error(const NDArray& a, const std::vector<std::int64_t>& codes) {
  try {
    a.reshape(codes);
    FAIL() << a.shape().str();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kShape) << error.what();
  }
}

TEST(BadInputReshape, codes_that_cannot_be_met) {
  const NDArray a = NDArray::zeros({2, 3});
  for (const std::vector<std::int64_t>& codes : {std::vector<std::int64_t>{4, -1},
                                                 {-1, -1},
                                                 {7},
                                                 {0, 0, 0},
                                                 {-4, 2},
                                                 {-4, -1, -1, 3},
                                                 {-4, 2, 2, 3},
                                                 {-4, 0, -1, 3},
                                                 {-5},
                                                 {-3, -3},
                                                 {std::int64_t{1} << 40, std::int64_t{1} << 40},
                                                 std::vector<std::int64_t>(20, 1)})
    expect_shape_error(a, codes);
  EXPECT_EQ(a.reshape({6}).size(), 6);
}

TEST(BadInputNDArray, shapes_that_do_not_fit) {
  const NDArray a = NDArray::zeros({2, 3});
  EXPECT_THROW(a.copy_to(NDArray::zeros({3, 2})), Error);
  EXPECT_THROW(a.reshape(Shape{5}), Error);
  EXPECT_THROW(NDArray({1, 2}, {3}), Error);
  EXPECT_THROW(a.scalar(), Error);
  EXPECT_THROW(NDArray(Shape::of_rank(2)), Error);
  EXPECT_THROW(NDArray({2}, cpu(), DType::kUnknown), Error);
  EXPECT_THROW(NDArray::arange(0, 1, 0), Error);
  EXPECT_THROW(NDArray(a.storage(), {2, 4}, DType::kFloat32), Error);
}

TEST(BadInputNDArray, too_large_is_an_error_and_the_next_call_works) {
  const std::int64_t huge = std::int64_t{1} << 40;
  for (const Shape& shape : {Shape{huge, 3}, Shape{huge, huge >> 20}, Shape{huge * 4096 * 512}}) {
    try {
      NDArray::zeros(shape);
      FAIL();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kMemory) << error.what();
    }
  }
  EXPECT_EQ(NDArray::zeros({2}).size(), 2);
}

// NumPy refuses it as well: steps along such axes do not fit into 64 bits.
TEST(BadInputNDArray, huge_extents_beside_a_0) {
  const std::int64_t huge = std::int64_t{1} << 40;
  for (const Shape& shape : {Shape{0, huge, huge}, Shape{huge, 0, huge}, Shape{huge, huge, 0}}) {
    try {
      NDArray::zeros(shape);
      FAIL();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kMemory) << error.what();
    }
  }
  EXPECT_EQ(NDArray::zeros({0, huge}).size(), 0);
}

}  // namespace
}  // namespace symbind
