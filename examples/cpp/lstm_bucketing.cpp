// ctest: run unit
// A language model over any text, with one network per sentence length.
//
//   example_lstm_bucketing book.txt more.txt --epochs 10
//
// Sentences are sorted into buckets by length. The networks of all buckets share their parameters
// and their memory; the longest bucket is the default one.

#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include <symbind/symbind.h>

#include "expect.h"

using namespace symbind;

constexpr std::int64_t kPadding = 0;

/// Lists of words, cut at full stops.
std::vector<std::vector<std::string>> read_sentences(const std::vector<std::string>& paths) {
  std::vector<std::vector<std::string>> sentences(1);
  for (const std::string& path : paths) {
    std::ifstream file(path);
    if (!file) throw std::runtime_error("cannot read " + path);
    std::stringstream text;
    text << file.rdbuf() << '.';
    std::string word;
    for (const char c : text.str()) {
      const auto byte = static_cast<unsigned char>(c);
      if (std::isalnum(byte) || c == '_' || byte > 127) {
        word += static_cast<char>(std::tolower(byte));
        continue;
      }
      if (!word.empty()) sentences.back().push_back(std::exchange(word, {}));
      if (std::string_view(".:;!?").find(c) == std::string_view::npos) continue;
      if (sentences.back().size() < 2)
        sentences.back().clear();
      else
        sentences.emplace_back();
    }
  }
  sentences.pop_back();
  return sentences;
}

std::vector<double> run(const std::vector<std::string>& paths, int epochs) {
  seed(1);
  Vocabulary words;
  const std::vector<Sentence> sentences =
      encode_sentences(read_sentences(paths), words, {.invalid_label = kPadding, .start_label = 1});
  BucketSentenceIter train(sentences,
                           {.batch_size = 8, .buckets = {8, 16, 32}, .invalid_label = kPadding});
  BucketSentenceIter again(sentences,
                           {.batch_size = 8, .buckets = {8, 16, 32}, .invalid_label = kPadding});

  const auto network = [&words](std::int64_t length) -> BucketNetwork {
    return {.symbol = models::lstm({.seq_len = static_cast<int>(length),
                                    .vocab_size = static_cast<int>(words.size()) + 1,
                                    .num_layers = 1,
                                    .num_hidden = 64,
                                    .num_embed = 64})};
  };
  BucketingModule module(network, train.default_bucket_key());

  std::vector<double> perplexities;
  module.fit(train, {.eval_data = &again,
                     .eval_metric = Perplexity(static_cast<int>(kPadding)),
                     .optimizer = "adam",
                     .optimizer_params = {{"learning_rate", 0.003}},
                     .eval_end_callback =
                         [&perplexities](const BatchEndParam& p) {
                           perplexities.push_back(p.eval_metric->get().front().second);
                         },
                     .initializer = Xavier({.factor_type = "in", .magnitude = 2.34}),
                     .num_epoch = epochs});
  std::printf("%zu sentences, %zu words, %zu buckets\n", sentences.size(), words.size(),
              module.buckets().size());
  return perplexities;
}

int main(int argc, char** argv) try {
  std::vector<std::string> paths;
  int epochs = 5;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    if (option == "--epochs" && i + 1 < argc)
      epochs = std::max(1, std::atoi(argv[++i]));
    else
      paths.push_back(option);
  }
  // Pages of the manual, from the project's folder.
  if (paths.empty()) paths = {"docs/walk.md", "docs/data.md", "docs/monitor.md", "docs/python.md"};
  const std::vector<double> perplexities = run(paths, epochs);
  std::printf("perplexity %.1f after the first epoch, %.1f at the end\n", perplexities.front(),
              perplexities.back());
  expect(epochs < 2 || perplexities.back() < perplexities.front(), "perplexity goes down");
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
