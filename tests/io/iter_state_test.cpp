// Every iterator is stopped after each batch; an equal iterator that resumes there gives the same
// batches: of this epoch and the next two.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <symbind/sentences.h>

#include "io/files.h"
#include "support/host_tensor.h"

namespace symbind {
namespace {

using Made = std::function<std::unique_ptr<DataIter>()>;
using Batch = std::vector<std::vector<float>>;

Batch numbers(const DataBatch& batch) {
  Batch all;
  for (const NDArray& array : batch.data) all.push_back(array.to_vector<float>());
  for (const NDArray& array : batch.label) all.push_back(array.to_vector<float>());
  all.push_back({static_cast<float>(batch.pad)});
  return all;
}

/// The batches from here to the end of `epochs` epochs; an empty one separates two epochs.
std::vector<Batch> rest(DataIter& iter, int epochs) {
  std::vector<Batch> all;
  DataBatch batch;
  for (int epoch = 0; epoch < epochs; ++epoch) {
    while (iter.next(batch)) all.push_back(numbers(batch));
    all.emplace_back();
    iter.reset();
  }
  return all;
}

void expect_resumes(const char* name, const Made& make) {
  SCOPED_TRACE(name);
  const auto counted = make();
  DataBatch batch;
  int length = 0;
  while (counted->next(batch)) ++length;
  ASSERT_GT(length, 1);
  for (int epoch = 0; epoch < 2; ++epoch) {
    for (int behind = 0; behind <= length; ++behind) {
      SCOPED_TRACE(fmt::format("epoch {}, {} batches", epoch, behind));
      const auto first = make();
      for (int e = 0; e < epoch; ++e) {
        while (first->next(batch)) continue;
        first->reset();
      }
      for (int i = 0; i < behind; ++i)
        if (!first->next(batch)) break;
      const std::optional<StateValue> state = first->state();
      ASSERT_TRUE(state);
      const StateValue kept = state->deep_copy();
      const auto second = make();
      second->next(batch);  // not where it began, either
      second->set_state(kept);
      EXPECT_EQ(rest(*second, 3), rest(*first, 3));
    }
  }
}

NDArray column(std::int64_t rows) {
  std::vector<float> values(static_cast<std::size_t>(rows));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  return NDArray::from_vector(values, {rows});
}

Made arrays(const char* last, bool shuffle) {
  return [=] {
    return std::make_unique<NDArrayIter>(
        column(22), column(22),
        NDArrayIterOptions{
            .batch_size = 5, .shuffle = shuffle, .last_batch_handle = last, .seed = 4});
  };
}

TEST(IterState, arrays) {
  for (const char* last : {"pad", "discard", "roll_over"}) {
    expect_resumes(last, arrays(last, false));
    expect_resumes(last, arrays(last, true));
  }
}

TEST(IterState, resized_and_prefetched) {
  expect_resumes("resize", [] {
    return std::make_unique<ResizeIter>(std::shared_ptr(arrays("roll_over", true)()), 7);
  });
  expect_resumes("resize, not reset", [] {
    return std::make_unique<ResizeIter>(std::shared_ptr(arrays("pad", true)()), 3, false);
  });
  expect_resumes("prefetch", [] {
    return std::make_unique<PrefetchingIter>(
        std::vector<std::shared_ptr<DataIter>>{arrays("pad", true)()});
  });
}

TEST(IterState, sentences) {
  std::vector<Sentence> all;
  for (int i = 0; i < 40; ++i) all.push_back(Sentence(static_cast<std::size_t>(3 + i % 3), i));
  expect_resumes("sentences", [&] {
    return std::make_unique<BucketSentenceIter>(all, BucketSentenceOptions{.batch_size = 4});
  });
}

TEST(IterState, files) {
  const TemporaryFile csv("1,2\n3,4\n5,6\n7,8\n9,10\n11,12\n13,14\n");
  const TemporaryFile svm("1 0:1\n2 1:2\n3 0:3\n4 2:4\n5 1:5\n");
  for (const bool round : {true, false}) {
    expect_resumes("csv", [&] {
      return std::make_unique<CSVIter>(CSVIterOptions{
          .data_csv = csv.path(), .data_shape = {2}, .batch_size = 3, .round_batch = round});
    });
  }
  expect_resumes("libsvm", [&] {
    return std::make_unique<LibSVMIter>(
        LibSVMIterOptions{.data_libsvm = svm.path(), .data_shape = {3}, .batch_size = 2});
  });
}

TEST(BadInputIterState, states_of_others_are_refused) {
  const auto iter = arrays("pad", true)();
  DataBatch batch;
  iter->next(batch);
  const StateValue state = *iter->state();
  const auto says = [&](DataIter& other) -> std::string {
    try {
      other.set_state(state);
    } catch (const Error& error) {
      return error.what();
    }
    return "taken";
  };
  NDArrayIter fewer(column(20), column(20), {.batch_size = 5, .shuffle = true});
  EXPECT_THAT(says(fewer), testing::HasSubstr("rows is 20 here and 22 in the state"));
  NDArrayIter larger(column(22), column(22), {.batch_size = 11, .shuffle = true});
  EXPECT_THAT(says(larger), testing::HasSubstr("batch_size is 11 here and 5 in the state"));
  ResizeIter resize(std::shared_ptr(arrays("pad", true)()), 3);
  EXPECT_THAT(says(resize),
              testing::HasSubstr("this is a ResizeIter, but the state is from a NDArrayIter"));
  StateValue wrong = state;
  for (std::size_t i = 0; i + 1 < wrong.items.size(); i += 2)
    if (wrong.items[i].text == "order")
      wrong.items[i + 1].array =
          NDArray::from_vector(std::vector<std::int64_t>(22, 99), {22}, cpu());
  try {
    iter->set_state(wrong);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("row 99 of 22"));
  }
}

}  // namespace
}  // namespace symbind
