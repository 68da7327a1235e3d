#include <gtest/gtest.h>

#include <map>
#include <set>

#include <symbind/sentences.h>

#include "io/files.h"
#include "support/capture_log.h"

namespace symbind {
namespace {

std::vector<Sentence> some_sentences() {
  std::vector<Sentence> result;
  for (std::int64_t i = 0; i < 6; ++i) result.push_back({10 * i + 1, 10 * i + 2});
  for (std::int64_t i = 6; i < 11; ++i) result.push_back({10 * i + 1, 10 * i + 2, 10 * i + 3});
  result.push_back({1, 2, 3, 4, 5, 6, 7});
  return result;
}

TEST(EncodeSentences, numbers_words_in_their_order) {
  Vocabulary vocabulary;
  const auto coded = encode_sentences({{"a", "b", "a"}, {"c"}}, vocabulary,
                                      {.invalid_label = 0, .start_label = 0});
  EXPECT_EQ(coded, (std::vector<Sentence>{{1, 2, 1}, {3}}));
  EXPECT_EQ(vocabulary, (Vocabulary{{"\n", 0}, {"a", 1}, {"b", 2}, {"c", 3}}));
  EXPECT_EQ(
      encode_sentences({{"b", "?"}}, vocabulary, {.start_label = 9, .unknown_token = "<unk>"}),
      (std::vector<Sentence>{{2, 9}}));
  expect_error(
      ErrorKind::kValue, [&] { encode_sentences({{"zebra"}}, vocabulary); }, "Unknown token zebra");
}

TEST(BucketSentenceIter, batches_are_of_one_bucket_and_labels_are_the_next_words) {
  for (const bool time_major : {false, true}) {
    BucketSentenceIter iter(some_sentences(), {.batch_size = 2,
                                               .buckets = {5, 2},
                                               .invalid_label = -1,
                                               .layout = time_major ? "TN" : "NT"});
    EXPECT_EQ(iter.default_bucket_key(), 5);
    EXPECT_EQ(iter.buckets(), (std::vector<std::int64_t>{2, 5}));
    const Shape longest = time_major ? Shape{5, 2} : Shape{2, 5};
    EXPECT_EQ(iter.provide_data()[0].shape, longest);
    std::set<std::vector<int>> orders;
    for (int e = 0; e < 3; ++e, iter.reset()) {
      std::map<std::int64_t, int> count;
      std::vector<int> order;
      for (DataBatch batch; iter.next(batch);) {
        const std::int64_t length = *batch.bucket_key;
        ++count[length];
        EXPECT_EQ(batch.data[0].shape(), batch.provide_data[0].shape);
        const auto data = batch.data[0].to_vector<int>(), label = batch.label[0].to_vector<int>();
        const auto at = [&](std::int64_t row, std::int64_t t) {
          return static_cast<std::size_t>(time_major ? t * 2 + row : row * length + t);
        };
        for (std::int64_t row = 0; row < 2; ++row) {
          order.push_back(data[at(row, 0)]);
          for (std::int64_t t = 0; t < length; ++t) {
            const int next = t + 1 < length ? data[at(row, t + 1)] : -1;
            EXPECT_EQ(label[at(row, t)], next);
          }
        }
      }
      EXPECT_EQ(count, (std::map<std::int64_t, int>{{2, 3}, {5, 2}}));
      orders.insert(order);
    }
    EXPECT_EQ(orders.size(), 3U);
  }
}

TEST(BucketSentenceIter, finds_buckets_and_says_what_it_left_out) {
  const CaptureLog log;
  const BucketSentenceIter iter(some_sentences(), {.batch_size = 5});
  EXPECT_EQ(iter.buckets(), (std::vector<std::int64_t>{2, 3}));
  ASSERT_EQ(log.lines().size(), 1U);
  EXPECT_EQ(log.lines()[0], "discarded 1 sentences longer than the largest bucket.");
}

TEST(BucketSentenceIter, int64_is_exact) {
  const std::int64_t large = (std::int64_t{1} << 60) + 1;
  BucketSentenceIter iter({{large, 2}}, {.buckets = {2}, .dtype = DType::kInt64});
  DataBatch batch;
  ASSERT_TRUE(iter.next(batch));
  EXPECT_EQ(batch.data[0].to_vector<std::int64_t>()[0], large);
}

TEST(BadInputBucketSentenceIter, says_what_is_wrong) {
  const auto make = [](BucketSentenceOptions o) { BucketSentenceIter(some_sentences(), o); };
  expect_error(
      ErrorKind::kValue, [&] { make({.batch_size = 0}); }, "batch_size is 0");
  expect_error(
      ErrorKind::kValue, [&] { make({.batch_size = 100}); }, "no bucket has 100 sentences");
  expect_error(
      ErrorKind::kValue, [&] { make({.layout = "NCHW"}); }, "NCHW", "NT");
  expect_error(
      ErrorKind::kType, [&] { make({.dtype = DType::kUint8}); }, "uint8");
}

}  // namespace
}  // namespace symbind
