// Loads every file of the corpora and runs every recorded operator call: findings of the fuzzers
// stay fixed in the ordinary build too.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <symbind/symbol.h>

#include "fuzz/loaders.h"
#include "fuzz/mutate_symbol.h"
#include "fuzz/operator_call.h"
#include "fuzz/support.h"
#include "support/source_path.h"

namespace symbind::fuzz {
namespace {

namespace fs = std::filesystem;

std::string corpus(const std::string& name) { return source_path("tests/fuzz/corpus/" + name); }

std::string contents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

Bytes bytes_of(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

class FuzzCorpus : public testing::TestWithParam<Loader> {};

TEST_P(FuzzCorpus, files_load_or_are_refused) {
  prepare();
  int files = 0, furthest = 0;
  for (const auto& entry : fs::directory_iterator(corpus(GetParam().name))) {
    SCOPED_TRACE(entry.path().string());
    const std::string bytes = contents(entry.path());
    EXPECT_NO_THROW(furthest = std::max(furthest, GetParam().run(bytes_of(bytes))));
    ++files;
  }
  EXPECT_GE(files, 5);
  EXPECT_EQ(furthest, 2);
}

INSTANTIATE_TEST_SUITE_P(, FuzzCorpus, testing::ValuesIn(kLoaders),
                         [](const auto& info) { return std::string(info.param.name); });

// A fuzzer of manifests would find nothing if the files beside them did not fit.
TEST(FuzzManifest, a_training_resumes_from_the_seed) {
  prepare();
  EXPECT_EQ(manifest(bytes_of(manifest_seed())), 2);
}

TEST(FuzzOperators, kept_calls_run_or_are_refused) {
  prepare();
  std::ifstream lines(corpus("operators.txt"));
  int calls = 0;
  for (std::string line; std::getline(lines, line); ++calls) {
    SCOPED_TRACE(line);
    EXPECT_NO_THROW(run_call(from_line(line)));
  }
  EXPECT_GE(calls, 1);
}

TEST(FuzzOperators, a_call_is_its_line_and_its_seed) {
  const OperatorCall call = draw_call("Convolution", 11);
  EXPECT_EQ(to_line(call), to_line(draw_call("Convolution", 11)));
  EXPECT_EQ(to_line(call), to_line(from_line(to_line(call))));
  EXPECT_NE(to_line(call), to_line(draw_call("Convolution", 12)));
}

// A caller that every operator refuses would find nothing.
TEST(FuzzOperators, half_of_the_operators_run_within_twenty_calls) {
  prepare();
  int ran = 0, ops = 0;
  for (const std::string& op : operators_to_call()) {
    bool one = false;
    for (std::uint64_t seed = 1; seed <= 20 && !one; ++seed)
      one = run_call(draw_call(op, seed)) == Outcome::kRan;
    ran += one ? 1 : 0;
    ++ops;
  }
  EXPECT_GE(2 * ran, ops);
}

TEST(FuzzOperators, a_mutated_network_is_json_and_mostly_loads) {
  const std::string net = to_symbol_json(draw_call("relu", 3));
  int loaded = 0;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const std::string changed = mutate_symbol(net, seed);
    ASSERT_FALSE(changed.empty());
    loaded += answers([&] { Symbol::load_json(changed); }) ? 1 : 0;
  }
  EXPECT_GE(loaded, 10);
  EXPECT_EQ(mutate_symbol("[1]", 1), "");
}

}  // namespace
}  // namespace symbind::fuzz
