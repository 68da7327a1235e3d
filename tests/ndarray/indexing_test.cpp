// Expected values: NumPy's basic indexing of arange(12).reshape(3, 4).
#include <gtest/gtest.h>

#include <symbind/ndarray.h>

#include "ndarray/storage.h"

namespace symbind {
namespace {

using Floats = std::vector<float>;
constexpr std::nullopt_t kOpen = std::nullopt;

NDArray grid() { return NDArray::arange(0, 12).reshape(Shape{3, 4}); }

TEST(Indexing, integers_and_slices) {
  const NDArray a = grid();
  EXPECT_EQ(a.index({Index(1), Index(-1)}).scalar(), 7);
  EXPECT_EQ(a.index({Index(1), Index(-1)}).shape(), Shape{});
  EXPECT_EQ(a.index({Index::all(), Index(1)}).to_vector<float>(), (Floats{1, 5, 9}));
  EXPECT_EQ(a.index({{1, 9}, {kOpen, kOpen, 2}}).to_vector<float>(), (Floats{4, 6, 8, 10}));
  EXPECT_EQ(a.index({{kOpen, kOpen, -1}, Index(0)}).to_vector<float>(), (Floats{8, 4, 0}));
  EXPECT_EQ(a.index({Index(0), {2, kOpen, -1}}).to_vector<float>(), (Floats{2, 1, 0}));
  EXPECT_EQ(a.index({Index(0), {-1, -9, -3}}).to_vector<float>(), (Floats{3, 0}));
  EXPECT_EQ(a.index({{2, 1}}).shape(), Shape({0, 4}));
  EXPECT_EQ(a.index({}).shape(), Shape({3, 4}));
  const std::int64_t lowest = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(a.index({Index(0), {kOpen, kOpen, lowest}}).to_vector<float>(), (Floats{3}));
  EXPECT_EQ(a.index({Index(0), {lowest, kOpen}}).size(), 4);
}

TEST(Indexing, three_axes_with_every_kind_of_step) {
  const NDArray a = NDArray::arange(0, 24).reshape(Shape{2, 3, 4});
  const NDArray picked = a.index({{kOpen, kOpen, -1}, {0, 3, 2}, {3, 0, -2}});
  EXPECT_EQ(picked.shape(), Shape({2, 2, 2}));
  EXPECT_EQ(picked.to_vector<float>(), (Floats{15, 13, 23, 21, 3, 1, 11, 9}));
}

TEST(Indexing, contiguous_selections_are_views) {
  NDArray a = grid();
  EXPECT_TRUE(a.index({{1, 3}}).aliases(a));
  EXPECT_TRUE(a.index({Index(1), {1, 3}}).aliases(a));
  EXPECT_TRUE(a.index({{1, 2}, {1, 3}}).aliases(a));
  EXPECT_FALSE(a.index({{0, 2}, {1, 3}}).aliases(a));
  EXPECT_FALSE(a.index({{kOpen, kOpen, -1}}).aliases(a));
  a.index({Index(1), {1, 3}}).set(-1);
  EXPECT_EQ(a.at(1).to_vector<float>(), (Floats{4, -1, -1, 7}));
}

TEST(Indexing, writes_broadcast_and_cast) {
  NDArray a = grid();
  a.set({Index::all(), {0, 2}}, NDArray({10, 20}, {2}));
  EXPECT_EQ(a.to_vector<float>(), (Floats{10, 20, 2, 3, 10, 20, 6, 7, 10, 20, 10, 11}));
  a.set({Index::all(), {2, 4}}, NDArray::from_vector<std::int32_t>({1, 2, 3}, {3, 1}));
  EXPECT_EQ(a.to_vector<float>(), (Floats{10, 20, 1, 1, 10, 20, 2, 2, 10, 20, 3, 3}));
  a.set({{kOpen, kOpen, 2}, Index(0)}, 0.5);
  EXPECT_EQ(a.index({Index::all(), Index(0)}).to_vector<float>(), (Floats{0.5, 10, 0.5}));
  a.set(NDArray({7}, {1, 1, 1}));
  EXPECT_EQ(a.to_vector<float>(), Floats(12, 7));
  a.set({Index(0), {kOpen, kOpen, -1}}, NDArray({1, 2, 3, 4}, {4}));
  EXPECT_EQ(a.at(0).to_vector<float>(), (Floats{4, 3, 2, 1}));
}

TEST(Indexing, an_array_may_be_written_from_itself) {
  NDArray a = NDArray::arange(0, 4);
  a.set({}, a.index({{kOpen, kOpen, -1}}));
  EXPECT_EQ(a.to_vector<float>(), (Floats{3, 2, 1, 0}));
  a.set({{1, kOpen}}, a.slice(0, 3));
  EXPECT_EQ(a.to_vector<float>(), (Floats{3, 3, 2, 1}));
  NDArray b = grid();
  b.set({Index::all(), {1, 3}}, b.at(0).slice(0, 2));
  EXPECT_EQ(b.to_vector<float>(), (Floats{0, 0, 1, 3, 4, 0, 1, 7, 8, 0, 1, 11}));
}

TEST(Indexing, every_element_size_is_moved) {
  for (const DType dtype : {DType::kUint8, DType::kFloat16, DType::kInt32, DType::kFloat64}) {
    const NDArray a = grid().astype(dtype);
    EXPECT_EQ(a.index({Index::all(), {3, kOpen, -3}}).to_vector<float>(),
              (Floats{3, 0, 7, 4, 11, 8}));
  }
}

template <class F>
std::string message(ErrorKind kind, F&& f) {
  try {
    f();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

TEST(BadInputIndexing, out_of_bounds_names_axis_index_and_size) {
  const NDArray a = grid();
  EXPECT_EQ(message(ErrorKind::kIndex, [&] { a.index({Index(5)}); }),
            "index 5 is out of bounds for axis 0 with size 3 (shape (3, 4))");
  EXPECT_EQ(message(ErrorKind::kIndex,
                    [&] {
                      a.index({Index::all(), Index(9)});
                    }),
            "index 9 is out of bounds for axis 1 with size 4 (shape (3, 4))");
  EXPECT_EQ(message(ErrorKind::kIndex, [&] { a.at(-4); }),
            "index -4 is out of bounds for axis 0 with size 3 (shape (3, 4))");
  message(ErrorKind::kIndex, [&] { a.index({Index(0), Index(0), Index(0)}); });
  message(ErrorKind::kIndex, [&] { a.slice(0, 4); });
  message(ErrorKind::kIndex, [&] { a.slice(2, 1); });
  message(ErrorKind::kValue, [&] { a.index({{kOpen, kOpen, 0}}); });
  EXPECT_EQ(a.at(2).size(), 4);
}

TEST(BadInputIndexing, values_that_do_not_broadcast_change_nothing) {
  NDArray a = grid();
  const auto version = a.storage()->version();
  message(ErrorKind::kShape, [&] { a.set({Index(0)}, NDArray::zeros({3})); });
  message(ErrorKind::kShape, [&] { a.set({Index(0)}, NDArray::zeros({2, 4})); });
  message(ErrorKind::kShape, [&] { a.set(NDArray::zeros({3, 4, 4})); });
  EXPECT_EQ(a.storage()->version(), version);
}

}  // namespace
}  // namespace symbind
