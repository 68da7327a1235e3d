#include <gtest/gtest.h>

#include <numeric>
#include <set>

#include <symbind/io.h>

#include "io/files.h"
#include "ndarray/storage.h"

namespace symbind {
namespace {

using Numbers = std::vector<std::int64_t>;

/// 0, 1, 2, … in the given shape.
NDArray counted(const Shape& shape) {
  std::vector<float> values(static_cast<std::size_t>(shape.size()));
  std::iota(values.begin(), values.end(), 0.0F);
  return NDArray::from_vector(values, shape, cpu());
}

Numbers numbers(const NDArray& array) { return array.to_vector<std::int64_t>(); }

std::vector<Numbers> epoch(DataIter& iter) {
  std::vector<Numbers> batches;
  for (DataBatch batch; iter.next(batch);) batches.push_back(numbers(batch.data[0]));
  return batches;
}

TEST(GoldenNDArrayIter, orders_pads_and_cursors_are_mxnets) {
  int cases = 0;
  for (const auto& recorded : recorded_values("arrays.json")) {
    if (recorded["shuffle"]) continue;  // NumPy's order: see tests/python
    SCOPED_TRACE(recorded.dump().substr(0, 120));
    ++cases;
    const std::int64_t rows = recorded["rows"];
    NDArrayIter iter(
        counted({rows}), counted({rows}),
        {.batch_size = recorded["batch_size"], .last_batch_handle = recorded["last_batch_handle"]});
    DataBatch batch;
    for (std::size_t e = 0; e < recorded["epochs"].size(); ++e, iter.reset()) {
      const auto& wanted = recorded["epochs"][e]["batches"];
      for (const auto& w : wanted) {
        ASSERT_TRUE(iter.next(batch));
        EXPECT_EQ(numbers(batch.data[0]), w["data"].get<Numbers>());
        EXPECT_EQ(numbers(batch.label[0]), w["data"].get<Numbers>());
        EXPECT_EQ(batch.pad, w["pad"].get<int>());
        EXPECT_EQ(iter.cursor(), w["cursor"].get<std::int64_t>());
      }
      const bool to_the_end = recorded["stop_after"].is_null() || e % 2 == 0;
      if (to_the_end) EXPECT_FALSE(iter.next(batch));
    }
  }
  EXPECT_EQ(cases, 14);
}

TEST(NDArrayIter, describes_its_batches) {
  const NDArrayIter one(counted({10, 3}), counted({10}), {.batch_size = 4});
  EXPECT_EQ(one.provide_data()[0].str(), "DataDesc[data,(4, 3),<class 'numpy.float32'>,NCHW]");
  EXPECT_EQ(one.provide_label()[0].str(),
            "DataDesc[softmax_label,(4,),<class 'numpy.float32'>,NCHW]");
  EXPECT_EQ(one.batch_size(), 4);
  const NDArrayIter two(std::vector<NDArray>{counted({4}), counted({4})}, {}, {});
  EXPECT_EQ(two.provide_data()[1].name, "_1_data");
  EXPECT_TRUE(two.provide_label().empty());
  const NDArrayIter named(NDArrayMap{{"right", counted({4})}, {"left", counted({4, 2})}});
  EXPECT_EQ(named.provide_data()[0].name, "left");
  EXPECT_EQ(named.provide_data()[1].name, "right");
}

TEST(NDArrayIter, neighbouring_rows_are_views) {
  const NDArray source = counted({8, 2});
  NDArrayIter iter(source, {}, {.batch_size = 3});
  DataBatch batch;
  ASSERT_TRUE(iter.next(batch));
  EXPECT_TRUE(batch.data[0].storage() == source.storage());
  ASSERT_TRUE(iter.next(batch));
  EXPECT_EQ(batch.data[0].byte_offset(), 3 * 2 * sizeof(float));
  ASSERT_TRUE(iter.next(batch));  // rows 6, 7 and 0
  EXPECT_FALSE(batch.data[0].storage() == source.storage());
  EXPECT_EQ(numbers(batch.data[0]), (Numbers{12, 13, 14, 15, 0, 1}));
}

TEST(NDArrayIter, shuffled_orders_are_complete_and_repeatable) {
  const NDArrayIterOptions options{.batch_size = 5, .shuffle = true, .seed = 3};
  NDArrayIter a(counted({20}), {}, options), b(counted({20}), {}, options);
  std::set<std::vector<Numbers>> seen;
  for (int e = 0; e < 3; ++e, a.reset(), b.reset()) {
    const std::vector<Numbers> order = epoch(a);
    EXPECT_EQ(order, epoch(b));
    std::set<std::int64_t> rows;
    for (const Numbers& batch : order) rows.insert(batch.begin(), batch.end());
    EXPECT_EQ(rows.size(), 20U);
    seen.insert(order);
  }
  EXPECT_EQ(seen.size(), 3U);
  NDArrayIter other(counted({20}), {}, {.batch_size = 5, .shuffle = true, .seed = 4});
  EXPECT_EQ(seen.count(epoch(other)), 0U);
}

TEST(NDArrayIter, labels_go_with_their_rows) {
  NDArrayIter iter(counted({7, 2}), counted({7}), {.batch_size = 2, .shuffle = true});
  for (DataBatch batch; iter.next(batch);) {
    const Numbers data = numbers(batch.data[0]), label = numbers(batch.label[0]);
    for (std::size_t i = 0; i < label.size(); ++i) {
      EXPECT_EQ(data[2 * i], 2 * label[i]);
      EXPECT_EQ(data[2 * i + 1], 2 * label[i] + 1);
    }
  }
}

TEST(NDArrayIter, unreferenced_arrays_are_reused) {
  NDArrayIter iter(counted({12}), {}, {.batch_size = 3, .shuffle = true});
  DataBatch batch;
  ASSERT_TRUE(iter.next(batch));
  const void* first = batch.data[0].data();
  ASSERT_TRUE(iter.next(batch));
  EXPECT_EQ(batch.data[0].data(), first);
  const NDArray kept = batch.data[0];
  const Numbers values = numbers(kept);
  ASSERT_TRUE(iter.next(batch));
  EXPECT_NE(batch.data[0].data(), first);
  EXPECT_EQ(numbers(kept), values);
  batch.data[0].mutable_data();  // a pointer left: hands off
  const void* escaped = batch.data[0].data();
  const NDArray again = batch.data[0];
  ASSERT_TRUE(iter.next(batch));
  EXPECT_NE(batch.data[0].data(), escaped);
}

TEST(NDArrayIter, the_batch_axis_is_the_layouts_n) {
  const NDArray source = counted({2, 5, 3});
  NDArrayIter iter(source, {}, {.batch_size = 2, .layout = "TNC"});
  EXPECT_EQ(iter.provide_data()[0].shape, (Shape{2, 2, 3}));
  EXPECT_EQ(iter.batch_size(), 2);
  DataBatch batch;
  ASSERT_TRUE(iter.next(batch));
  EXPECT_EQ(numbers(batch.data[0]), (Numbers{0, 1, 2, 3, 4, 5, 15, 16, 17, 18, 19, 20}));
  ASSERT_TRUE(iter.next(batch));
  ASSERT_TRUE(iter.next(batch));  // rows 4 and 0
  EXPECT_EQ(numbers(batch.data[0]), (Numbers{12, 13, 14, 0, 1, 2, 27, 28, 29, 15, 16, 17}));
  EXPECT_EQ(batch.pad, 1);
}

TEST(NDArrayIter, an_order_of_the_callers) {
  Numbers order = {2, 0, 1};
  NDArrayIter iter(counted({3}), {}, {.shuffle = true, .reorder = [&] { return order; }});
  EXPECT_EQ(epoch(iter), (std::vector<Numbers>{{2}, {0}, {1}}));
  order = {1, 2, 0};
  iter.reset();
  EXPECT_EQ(epoch(iter), (std::vector<Numbers>{{1}, {2}, {0}}));
}

TEST(ResizeIter, as_many_batches_as_wanted) {
  auto inner = std::make_shared<NDArrayIter>(counted({3}));
  ResizeIter more(inner, 5);
  EXPECT_EQ(epoch(more), (std::vector<Numbers>{{0}, {1}, {2}, {0}, {1}}));
  more.reset();
  EXPECT_EQ(epoch(more).front(), Numbers{0});
  inner->reset();
  ResizeIter fewer(inner, 2, false);
  EXPECT_EQ(epoch(fewer), (std::vector<Numbers>{{0}, {1}}));
  fewer.reset();
  EXPECT_EQ(epoch(fewer), (std::vector<Numbers>{{2}, {0}}));
}

TEST(DataDesc, equality_ignores_type_and_layout) {
  EXPECT_EQ((DataDesc{"data", {2, 3}}), (DataDesc{"data", {2, 3}, DType::kInt32, "TN"}));
  EXPECT_FALSE((DataDesc{"data", {2, 3}}) == (DataDesc{"data", {2, 4}}));
  EXPECT_EQ((DataDesc{"data", {128, 3, 224, 224}}).str(),
            "DataDesc[data,(128, 3, 224, 224),<class 'numpy.float32'>,NCHW]");
  EXPECT_EQ(DataDesc::batch_axis("TNC"), 1);
  EXPECT_EQ(DataDesc::batch_axis(""), 0);
  EXPECT_EQ(DataDesc::batch_axis("CHW"), -1);
}

TEST(DataBatch, prints_as_mxnets) {
  DataBatch batch;
  batch.data = {counted({2, 3}), counted({7, 8})};
  EXPECT_EQ(batch.str(), "DataBatch: data shapes: [(2, 3), (7, 8)] label shapes: None");
  batch.label = {counted({4})};
  EXPECT_EQ(batch.str(), "DataBatch: data shapes: [(2, 3), (7, 8)] label shapes: [(4,)]");
}

TEST(BadInputNDArrayIter, mistake35_rows_that_do_not_match) {
  expect_error(
      ErrorKind::kValue,
      [] {
        NDArrayIter(counted({100, 2}), counted({99}));
      },
      "'data' has 100 rows", "'softmax_label' has 99");
}

TEST(BadInputNDArrayIter, says_what_is_wrong) {
  const NDArray x = counted({4});
  expect_error(
      ErrorKind::kValue, [&] { NDArrayIter(x, {}, {.batch_size = 0}); }, "batch_size is 0");
  expect_error(
      ErrorKind::kValue, [&] { NDArrayIter(x, {}, {.last_batch_handle = "keep"}); }, "'keep'",
      "roll_over");
  expect_error(
      ErrorKind::kValue, [&] { NDArrayIter(x, {}, {.layout = "CHW"}); }, "'CHW'");
  expect_error(
      ErrorKind::kShape, [&] { NDArrayIter(x, {}, {.layout = "TN"}); }, "data", "(4,)");
  expect_error(
      ErrorKind::kValue, [&] { NDArrayIter(std::vector<NDArray>{}); }, "no data");
  expect_error(
      ErrorKind::kState, [&] { NDArrayIter iter((NDArray())); }, "data");
  expect_error(
      ErrorKind::kIndex,
      [&] {
        NDArrayIter(x, {}, {.shuffle = true, .reorder = [] { return Numbers{0, 1, 2, 9}; }});
      },
      "row 9", "4 rows");
  NDArrayIter iter(x, {}, {.batch_size = 3, .last_batch_handle = "roll_over"});
  iter.set_cursor(-2);
  DataBatch batch;
  expect_error(
      ErrorKind::kState, [&] { iter.fetch(batch); }, "hard_reset");
  iter.set_cursor(4);
  expect_error(
      ErrorKind::kState, [&] { iter.fetch(batch); }, "reset()");
}

TEST(BadInputResizeIter, an_iterator_without_batches) {
  auto inner = std::make_shared<NDArrayIter>(
      counted({2}), IterArrays{},
      NDArrayIterOptions{.batch_size = 3, .last_batch_handle = "discard"});
  ResizeIter iter(inner, 2);
  DataBatch batch;
  expect_error(
      ErrorKind::kState, [&] { iter.next(batch); }, "no batches");
  expect_error(
      ErrorKind::kValue, [&] { ResizeIter(nullptr, 2); }, "no iterator");
  expect_error(
      ErrorKind::kValue, [&] { ResizeIter(inner, -2); }, "-2");
}

}  // namespace
}  // namespace symbind
