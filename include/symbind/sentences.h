#pragma once
// Sentences of different lengths, sorted into buckets: data for BucketingModule.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <symbind/io.h>

namespace symbind {

using Sentence = std::vector<std::int64_t>;
using Vocabulary = std::map<std::string, std::int64_t>;

struct EncodeOptions {
  std::int64_t invalid_label = -1;
  std::string invalid_key = "\n";
  std::int64_t start_label = 0;
  /// What an unknown word becomes when a vocabulary is given; without it such a word is an error.
  std::string unknown_token = {};
};

/// Words as numbers. An empty vocabulary is built, numbering from `start_label` and skipping
/// `invalid_label`. A word missing from a given vocabulary is an Error kValue that names it.
std::vector<Sentence> encode_sentences(const std::vector<std::vector<std::string>>& sentences,
                                       Vocabulary& vocabulary, const EncodeOptions& options = {});

struct BucketSentenceOptions {
  std::int64_t batch_size = 1;
  /// Bucket lengths; empty: every length that at least `batch_size` sentences have.
  std::vector<std::int64_t> buckets = {};
  /// Pads a sentence to its bucket's length; also the label of its last word.
  std::int64_t invalid_label = -1;
  std::string data_name = "data", label_name = "softmax_label";
  DType dtype = DType::kFloat32;
  /// NT or TN.
  std::string layout = "NT";
  std::uint64_t seed = 0;
};

/// Batches of sentences of one bucket each, with the next word as label. Every epoch shuffles the
/// sentences inside the buckets and the batches, the same for the same seed on any machine.
/// Sentences longer than the longest bucket are dropped, and their number is logged.
class BucketSentenceIter final : public DataIter {
 public:
  BucketSentenceIter(const std::vector<Sentence>& sentences, const BucketSentenceOptions& options);
  ~BucketSentenceIter() override;
  /// Of the longest bucket.
  const std::vector<DataDesc>& provide_data() const override;
  const std::vector<DataDesc>& provide_label() const override;
  void reset() override;
  /// Sets the batch's bucket_key, provide_data and provide_label as well.
  bool next(DataBatch& batch) override;
  std::optional<StateValue> state() override;
  void set_state(const StateValue& state) override;
  /// The length of the longest bucket.
  std::int64_t default_bucket_key() const;
  /// The buckets that have sentences, ascending.
  const std::vector<std::int64_t>& buckets() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace symbind
