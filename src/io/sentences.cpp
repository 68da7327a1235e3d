// Sentences in buckets.
//
// Decided here: sentence numbers are shuffled, not sentences; a batch is built on request, its
// labels from the words themselves. Buckets without sentences are dropped, as in MXNet, and so are
// sentences longer than all buckets.
#include <symbind/sentences.h>

#include <algorithm>

#include <symbind/log.h>

#include "base/check.h"
#include "io/batch_arrays.h"
#include "io/iter_state.h"
#include "io/shuffle.h"
#include "ndarray/access.h"

namespace symbind {

std::vector<Sentence> encode_sentences(const std::vector<std::vector<std::string>>& sentences,
                                       Vocabulary& vocabulary, const EncodeOptions& options) {
  const bool is_new = vocabulary.empty();
  if (is_new) vocabulary[options.invalid_key] = options.invalid_label;
  std::int64_t next = options.start_label;
  std::vector<Sentence> result;
  for (const auto& sentence : sentences) {
    Sentence& coded = result.emplace_back();
    for (std::string word : sentence) {
      auto found = vocabulary.find(word);
      if (found == vocabulary.end()) {
        check(is_new || !options.unknown_token.empty(),
              "Unknown token {}: the vocabulary lacks it, and there is no unknown_token", word);
        if (!options.unknown_token.empty()) word = options.unknown_token;
        found = vocabulary.find(word);
        if (found == vocabulary.end()) {
          if (next == options.invalid_label) ++next;
          found = vocabulary.emplace(word, next++).first;
        }
      }
      coded.push_back(found->second);
    }
  }
  return result;
}

namespace {

std::vector<std::int64_t> common_lengths(const std::vector<Sentence>& sentences,
                                         std::int64_t at_least) {
  std::map<std::int64_t, std::int64_t> counts;
  for (const Sentence& s : sentences) ++counts[static_cast<std::int64_t>(s.size())];
  std::vector<std::int64_t> lengths;
  for (const auto& [length, count] : counts)
    if (length > 0 && count >= at_least) lengths.push_back(length);
  return lengths;
}

template <class T>
void write_words(const std::vector<const Sentence*>& rows, std::int64_t length, std::int64_t shift,
                 std::int64_t fill, bool time_major, std::byte* out) {
  auto* words = reinterpret_cast<T*>(out);
  const auto count = static_cast<std::int64_t>(rows.size());
  for (std::int64_t r = 0; r < count; ++r) {
    const Sentence& sentence = *rows[static_cast<std::size_t>(r)];
    for (std::int64_t t = 0; t < length; ++t) {
      const auto from = static_cast<std::size_t>(t + shift);
      const std::int64_t word = from < sentence.size() ? sentence[from] : fill;
      words[time_major ? t * count + r : r * length + t] = static_cast<T>(word);
    }
  }
}

}  // namespace

struct BucketSentenceIter::State {
  struct Place {
    std::size_t bucket, first;
  };
  BucketSentenceOptions options;
  std::vector<Sentence> sentences;
  std::vector<std::int64_t> buckets;
  std::vector<std::vector<std::size_t>> members;  // sentences of each bucket
  std::vector<Place> batches;
  std::size_t at = 0;
  std::uint64_t epoch = 0;
  std::vector<DataDesc> data, label;
  bool time_major = false;

  void sort_into_buckets();
  void new_order();
  Shape shape(std::int64_t length) const {
    return time_major ? Shape{length, options.batch_size} : Shape{options.batch_size, length};
  }
  void write(std::vector<NDArray>& arrays, const Place& place, std::int64_t shift) const;
};

void BucketSentenceIter::State::sort_into_buckets() {
  std::vector<std::int64_t> lengths = options.buckets;
  if (lengths.empty()) lengths = common_lengths(sentences, options.batch_size);
  std::sort(lengths.begin(), lengths.end());
  std::vector<std::vector<std::size_t>> sorted(lengths.size());
  std::size_t discarded = 0;
  for (std::size_t i = 0; i < sentences.size(); ++i) {
    const auto length = static_cast<std::int64_t>(sentences[i].size());
    const auto bucket = std::lower_bound(lengths.begin(), lengths.end(), length);
    if (bucket == lengths.end())
      ++discarded;
    else
      sorted[static_cast<std::size_t>(bucket - lengths.begin())].push_back(i);
  }
  if (discarded > 0)
    log_warning(fmt::format("discarded {} sentences longer than the largest bucket.", discarded));
  for (std::size_t b = 0; b < lengths.size(); ++b) {
    if (sorted[b].empty()) continue;
    buckets.push_back(lengths[b]);
    members.push_back(std::move(sorted[b]));
  }
  const auto size = static_cast<std::size_t>(options.batch_size);
  for (std::size_t b = 0; b < members.size(); ++b)
    for (std::size_t first = 0; first + size <= members[b].size(); first += size)
      batches.push_back({b, first});
}

void BucketSentenceIter::State::new_order() {
  const std::uint64_t first = epoch++ * (members.size() + 1);
  shuffle(batches, options.seed, first);
  for (std::size_t b = 0; b < members.size(); ++b) shuffle(members[b], options.seed, first + b + 1);
  at = 0;
}

void BucketSentenceIter::State::write(std::vector<NDArray>& arrays, const Place& place,
                                      std::int64_t shift) const {
  std::vector<const Sentence*> rows;
  for (std::int64_t i = 0; i < options.batch_size; ++i)
    rows.push_back(&sentences[members[place.bucket][place.first + static_cast<std::size_t>(i)]]);
  const std::int64_t length = buckets[place.bucket];
  arrays.resize(1);
  const NDArray& array = writable_array(arrays, 0, shape(length), options.dtype);
  const auto write_as = [&]<class T>() {
    write_words<T>(rows, length, shift, options.invalid_label, time_major, write_pointer(array));
  };
  if (options.dtype == DType::kInt32)
    write_as.operator()<std::int32_t>();
  else if (options.dtype == DType::kInt64)
    write_as.operator()<std::int64_t>();
  else if (options.dtype == DType::kFloat64)
    write_as.operator()<double>();
  else
    write_as.operator()<float>();
}

BucketSentenceIter::BucketSentenceIter(const std::vector<Sentence>& sentences,
                                       const BucketSentenceOptions& options)
    : state_(std::make_unique<State>()) {
  State& s = *state_;
  check(options.batch_size > 0, "BucketSentenceIter: batch_size is {}; it must be positive",
        options.batch_size);
  check(options.layout == "NT" || options.layout == "TN",
        "Invalid layout {}: Must by NT (batch major) or TN (time major)", options.layout);
  const DType t = options.dtype;
  check(t == DType::kFloat32 || t == DType::kFloat64 || t == DType::kInt32 || t == DType::kInt64,
        ErrorKind::kType,
        "BucketSentenceIter: dtype {} is not supported; choose float32, float64, int32 or int64",
        dtype_name(t));
  s.options = options;
  s.sentences = sentences;
  s.time_major = options.layout == "TN";
  s.sort_into_buckets();
  check(
      !s.batches.empty(),
      "BucketSentenceIter: no bucket has {} sentences, which a batch takes; there are {} sentences",
      options.batch_size, sentences.size());
  const Shape longest = s.shape(s.buckets.back());
  s.data = {{options.data_name, longest, options.dtype, options.layout}};
  s.label = {{options.label_name, longest, options.dtype, options.layout}};
  s.new_order();
}

BucketSentenceIter::~BucketSentenceIter() = default;
const std::vector<DataDesc>& BucketSentenceIter::provide_data() const { return state_->data; }
const std::vector<DataDesc>& BucketSentenceIter::provide_label() const { return state_->label; }
void BucketSentenceIter::reset() { state_->new_order(); }
std::int64_t BucketSentenceIter::default_bucket_key() const { return state_->buckets.back(); }
const std::vector<std::int64_t>& BucketSentenceIter::buckets() const { return state_->buckets; }

bool BucketSentenceIter::next(DataBatch& batch) {
  State& s = *state_;
  if (s.at == s.batches.size()) return false;
  const State::Place& place = s.batches[s.at++];
  s.write(batch.data, place, 0);
  s.write(batch.label, place, 1);
  batch.pad = 0;
  batch.index.clear();
  batch.bucket_key = s.buckets[place.bucket];
  batch.provide_data = s.data;
  batch.provide_label = s.label;
  batch.provide_data[0].shape = batch.provide_label[0].shape = s.shape(*batch.bucket_key);
  return true;
}

std::optional<StateValue> BucketSentenceIter::state() {
  const State& s = *state_;
  std::vector<std::int64_t> places, order;
  for (const State::Place& place : s.batches) {
    places.push_back(static_cast<std::int64_t>(place.bucket));
    places.push_back(static_cast<std::int64_t>(place.first));
  }
  for (const auto& bucket : s.members) order.insert(order.end(), bucket.begin(), bucket.end());
  StateValue state = iter_state("BucketSentenceIter",
                                {{"sentences", static_cast<std::int64_t>(s.sentences.size())},
                                 {"batches", static_cast<std::int64_t>(s.batches.size())},
                                 {"batch_size", s.options.batch_size}});
  state.add("at", StateValue::of(static_cast<std::int64_t>(s.at)));
  state.add("epoch", StateValue::of(static_cast<std::int64_t>(s.epoch)));
  state.add("places", StateValue::of(rows_array(places)));
  state.add("order", StateValue::of(rows_array(order)));
  return state;
}

void BucketSentenceIter::set_state(const StateValue& state) {
  State& s = *state_;
  constexpr const char* kWhat = "BucketSentenceIter";
  const auto sentences = static_cast<std::int64_t>(s.sentences.size());
  const auto batches = static_cast<std::int64_t>(s.batches.size());
  check_iter_state(
      state, kWhat,
      {{"sentences", sentences}, {"batches", batches}, {"batch_size", s.options.batch_size}});
  const auto at = state.integer_at("at", kWhat), epoch = state.integer_at("epoch", kWhat);
  const auto places = rows_from(state.array_at("places", kWhat), sentences, kWhat);
  const auto order = rows_from(state.array_at("order", kWhat), sentences, kWhat);
  std::size_t members = 0;
  for (const auto& bucket : s.members) members += bucket.size();
  check(at >= 0 && at <= batches && epoch >= 0 && order.size() == members &&
            places.size() == 2 * s.batches.size(),
        ErrorKind::kIo, "{}: the state is not from these sentences", kWhat);
  for (std::size_t i = 0; i < s.batches.size(); ++i) {
    const auto bucket = static_cast<std::size_t>(places[2 * i]);
    const auto first = static_cast<std::size_t>(places[2 * i + 1]);
    check(bucket < s.members.size() &&
              first + static_cast<std::size_t>(s.options.batch_size) <= s.members[bucket].size(),
          ErrorKind::kIo, "{}: the state is not from these buckets", kWhat);
  }
  for (std::size_t i = 0; i < s.batches.size(); ++i)
    s.batches[i] = {static_cast<std::size_t>(places[2 * i]),
                    static_cast<std::size_t>(places[2 * i + 1])};
  std::size_t next = 0;
  for (auto& bucket : s.members)
    for (std::size_t& sentence : bucket) sentence = static_cast<std::size_t>(order[next++]);
  s.at = static_cast<std::size_t>(at);
  s.epoch = static_cast<std::uint64_t>(epoch);
}

}  // namespace symbind
