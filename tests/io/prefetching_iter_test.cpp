#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <numeric>
#include <thread>

#include <symbind/io.h>

#include "io/files.h"

namespace symbind {
namespace {

using Numbers = std::vector<std::int64_t>;

NDArray counted(std::int64_t count, float from = 0) {
  std::vector<float> values(static_cast<std::size_t>(count));
  std::iota(values.begin(), values.end(), from);
  return NDArray::from_vector(values, {count}, cpu());
}

std::shared_ptr<NDArrayIter> rows(std::int64_t count, NDArrayIterOptions options = {},
                                  float from = 0) {
  return std::make_shared<NDArrayIter>(counted(count, from), IterArrays{}, options);
}

std::vector<Numbers> epoch(DataIter& iter) {
  std::vector<Numbers> batches;
  for (DataBatch batch; iter.next(batch);)
    batches.push_back(batch.data[0].to_vector<std::int64_t>());
  return batches;
}

/// Counts up to `end`; throws at `bad`. Slow on request.
class Counter final : public DataIter {
 public:
  explicit Counter(int end, int bad = -1, int pause_ms = 0)
      : end_(end), bad_(bad), pause_ms_(pause_ms) {}
  const std::vector<DataDesc>& provide_data() const override { return descs_; }
  const std::vector<DataDesc>& provide_label() const override { return none_; }
  void reset() override {
    at_ = 0;
    if (bad_reset) throw Error(ErrorKind::kIo, "the file vanished at reset");
  }
  bool next(DataBatch& batch) override {
    std::this_thread::sleep_for(std::chrono::milliseconds(pause_ms_));
    if (at_ == bad_) throw Error(ErrorKind::kIo, "the file vanished");
    if (at_ == end_) return false;
    batch.data = {NDArray::full({1}, at_++, cpu())};
    batch.label.clear();
    batch.pad = 0;
    return true;
  }
  std::atomic<bool> bad_reset{false};

 private:
  int end_, bad_, pause_ms_, at_ = 0;
  std::vector<DataDesc> descs_ = {{"data", {1}}}, none_;
};

TEST(ThreadsPrefetchingIter, gives_what_the_iterator_gives) {
  for (const char* handle : {"pad", "discard", "roll_over"}) {
    const NDArrayIterOptions options{
        .batch_size = 4, .shuffle = true, .last_batch_handle = handle, .seed = 5};
    auto plain = rows(11, options);
    PrefetchingIter ahead({rows(11, options)});
    for (int e = 0; e < 4; ++e) {
      EXPECT_EQ(epoch(ahead), epoch(*plain));
      ahead.reset();
      plain->reset();
    }
  }
}

// The progress of the thread must not matter: a reset in the middle is the same as without
// prefetching. (After the last batch the epoch counts as ended, even before next() says so, as in
// MXNet.)
TEST(ThreadsPrefetchingIter, reset_in_the_middle_is_exact) {
  for (const char* handle : {"pad", "discard", "roll_over"}) {
    const int most = std::string(handle) == "roll_over" ? 2 : 4;
    for (int taken = 0; taken <= most; ++taken) {
      const NDArrayIterOptions options{.batch_size = 3, .last_batch_handle = handle};
      auto plain = rows(11, options);
      PrefetchingIter ahead({rows(11, options)}, {.depth = 3});
      DataBatch batch;
      for (int e = 0; e < 3; ++e) {
        for (int i = 0; i < taken; ++i) EXPECT_EQ(ahead.next(batch), plain->next(batch));
        ahead.reset();
        plain->reset();
        EXPECT_EQ(epoch(ahead), epoch(*plain)) << handle << " " << taken;
        ahead.reset();
        plain->reset();
      }
    }
  }
}

TEST(ThreadsPrefetchingIter, joins_and_renames) {
  PrefetchingIter iter({rows(4), rows(4, {}, 10)},
                       {.rename_data = {{{"data", "left"}}, {{"data", "right"}}}});
  EXPECT_EQ(iter.provide_data()[0].name, "left");
  EXPECT_EQ(iter.provide_data()[1].name, "right");
  DataBatch batch;
  for (int e = 0; e < 2; ++e, iter.reset()) {
    for (std::int64_t i = 0; i < 4; ++i) {
      ASSERT_TRUE(iter.next(batch));
      ASSERT_EQ(batch.data.size(), 2U);
      EXPECT_EQ(batch.data[0].scalar(), static_cast<double>(i));
      EXPECT_EQ(batch.data[1].scalar(), static_cast<double>(i + 10));
    }
    EXPECT_FALSE(iter.next(batch));
    EXPECT_FALSE(iter.next(batch));
    EXPECT_EQ(batch.data.at(1).scalar(), 13);  // the last batch is unchanged
  }
}

TEST(ThreadsPrefetchingIter, batches_keep_their_numbers) {
  PrefetchingIter iter({rows(60, {.batch_size = 2, .shuffle = true})});
  std::vector<NDArray> kept;
  std::vector<Numbers> seen;
  for (DataBatch batch; iter.next(batch);) {
    kept.push_back(batch.data[0]);
    seen.push_back(batch.data[0].to_vector<std::int64_t>());
  }
  for (std::size_t i = 0; i < kept.size(); ++i)
    EXPECT_EQ(kept[i].to_vector<std::int64_t>(), seen[i]);
}

TEST(ThreadsPrefetchingIter, ends_in_any_state) {
  for (int taken = 0; taken < 4; ++taken) {
    PrefetchingIter iter({std::make_shared<Counter>(3, -1, 5), std::make_shared<Counter>(3)});
    DataBatch batch;
    for (int i = 0; i < taken; ++i) iter.next(batch);
  }
  const PrefetchingIter untouched({std::make_shared<Counter>(1'000'000)});
}

TEST(ThreadsPrefetchingIter, many_resets) {
  PrefetchingIter iter({std::make_shared<Counter>(50)}, {.depth = 3});
  DataBatch batch;
  for (int i = 0; i < 300; ++i) {
    for (int k = 0; k <= i % 4; ++k) {
      ASSERT_TRUE(iter.next(batch));
      ASSERT_EQ(batch.data[0].scalar(), k);
    }
    iter.reset();
  }
}

TEST(ThreadsPrefetchingIter, a_forked_child_may_drop_it) {
  auto iter = std::make_unique<PrefetchingIter>(
      std::vector<std::shared_ptr<DataIter>>{std::make_shared<Counter>(5)});
  const ::pid_t child = ::fork();
  if (child == 0) {
    int status = 1;
    try {
      DataBatch batch;
      iter->next(batch);
    } catch (const Error& e) {
      status = std::string(e.what()).find("fork") != std::string::npos ? 0 : 2;
    }
    iter.reset();
    ::_exit(status);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_EQ(epoch(*iter).size(), 5U);
}

// Of two files the first is opened again in every epoch.
TEST(BadInputPrefetchingIter, mistake36_a_file_that_vanishes) {
  const TemporaryFile csv("1,2\n3,4\n"), second("9,9\n9,9\n");
  PrefetchingIter iter({std::make_shared<CSVIter>(CSVIterOptions{
      .data_csv = csv.path() + ";" + second.path(), .data_shape = {2}, .batch_size = 2})});
  EXPECT_EQ(epoch(iter).size(), 2U);
  std::filesystem::remove(csv.path());
  iter.reset();
  DataBatch batch;
  for (int i = 0; i < 2; ++i)
    expect_error(
        ErrorKind::kIo, [&] { iter.next(batch); }, csv.path(), "No such file");
  csv.write("5,6\n7,8\n");
  iter.reset();
  EXPECT_EQ(epoch(iter), (std::vector<Numbers>{{5, 6, 7, 8}, {9, 9, 9, 9}}));
}

TEST(BadInputPrefetchingIter, errors_come_after_the_batches_before_them) {
  auto counter = std::make_shared<Counter>(9, 3);
  PrefetchingIter iter({counter}, {.depth = 4});
  DataBatch batch;
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(iter.next(batch));
    EXPECT_EQ(batch.data[0].scalar(), i);
  }
  expect_error(
      ErrorKind::kIo, [&] { iter.next(batch); }, "the file vanished");
  counter->bad_reset = true;
  iter.reset();
  expect_error(
      ErrorKind::kIo, [&] { iter.next(batch); }, "vanished at reset");
  counter->bad_reset = false;
  iter.reset();
  EXPECT_TRUE(iter.next(batch));
}

TEST(BadInputPrefetchingIter, iterators_that_do_not_match) {
  DataBatch batch;
  PrefetchingIter lengths({std::make_shared<Counter>(1), std::make_shared<Counter>(2)});
  EXPECT_TRUE(lengths.next(batch));
  expect_error(
      ErrorKind::kState, [&] { lengths.next(batch); }, "Number of entry mismatches");
  PrefetchingIter pads({rows(3, {.batch_size = 2}), rows(4, {.batch_size = 2})});
  EXPECT_TRUE(pads.next(batch));
  expect_error(
      ErrorKind::kState, [&] { pads.next(batch); }, "pads 1", "pads 0");
  expect_error(
      ErrorKind::kValue, [] { PrefetchingIter({}); }, "no iterator");
  expect_error(
      ErrorKind::kName,
      [] {
        PrefetchingIter({rows(2)}, {.rename_data = {{{"dat", "x"}}}});
      },
      "'data'", "'dat'");
  expect_error(
      ErrorKind::kValue, [] { PrefetchingIter({rows(2)}, {.depth = 0}); }, "depth");
}

}  // namespace
}  // namespace symbind
