// Predictor against executors bound for the same shapes: inputs by name and order, from any kind of
// memory, new shapes per call, labels, copied weights, caches.

#include "tests/predict/nets.h"

#include <sys/wait.h>
#include <unistd.h>
#include <cstring>

namespace symbind {
namespace {

TEST(Predictor, equals_an_executor_for_every_shape) {
  const Checkpoint net = recorded_net("gap");
  const Predictor predictor(net.symbol, net.args, net.aux, {.threads = 1});
  for (const auto& [batch, height, width] :
       {std::tuple{1, 8, 8}, {4, 8, 8}, {2, 13, 5}, {1, 32, 32}, {4, 8, 8}}) {
    const NDArray x = image(batch, height, width);
    EXPECT_EQ(numbers(predictor.predict(x)), by_executor(net, {{"data", x}}));
  }
  EXPECT_EQ(predictor.stats().plans, 4);
}

TEST(Predictor, inputs_by_name_by_order_and_from_the_host) {
  const Checkpoint net = recorded_net("pair");
  const Predictor predictor(net.symbol, net.args, net.aux);
  EXPECT_EQ(predictor.input_names(), Names({"left", "right"}));
  EXPECT_EQ(predictor.output_names(), Names({"score_output", "both_output"}));
  const NDArray left = HostTensor::formula({3, 3}, 1).array();
  const NDArray right = HostTensor::formula({3, 4}, 2).array();
  const auto wanted = by_executor(net, {{"left", left}, {"right", right}});
  EXPECT_EQ(numbers(predictor.predict({{"right", right}, {"left", left}})), wanted);
  EXPECT_EQ(numbers(predictor.predict({left, right})), wanted);
  const Floats l = left.to_vector<float>(), r = right.to_vector<float>();
  EXPECT_EQ(
      numbers(predictor.predict({{"left", {l.data(), {3, 3}}}, {"right", {r.data(), {3, 4}}}})),
      wanted);
  const Predictor turned(net.symbol, net.args, net.aux, {.data_names = {"right", "left"}});
  EXPECT_EQ(numbers(turned.predict({right, left})), wanted);
}

TEST(Predictor, other_element_types_are_cast) {
  const Checkpoint net = recorded_net("gap");
  const Predictor predictor(net.symbol, net.args, net.aux);
  const NDArray x = image(2);
  const auto wanted = numbers(predictor.predict(x));
  EXPECT_EQ(numbers(predictor.predict(x.astype(DType::kFloat64))), wanted);
  const auto doubles = x.to_vector<double>();
  EXPECT_EQ(numbers(predictor.predict({doubles.data(), {2, 3, 8, 8}})), wanted);
  const std::vector<std::uint8_t> pixels(192, 3);
  EXPECT_EQ(numbers(predictor.predict({pixels.data(), {1, 3, 8, 8}})),
            numbers(predictor.predict(NDArray::full({1, 3, 8, 8}, 3))));
}

// Numbers that begin at an odd address are copied, not read where they lie.
TEST(Predictor, host_memory_of_any_alignment) {
  const Predictor predictor = recorded_predictor("gap");
  const NDArray x = image(1);
  const Floats values = x.to_vector<float>();
  std::vector<char> bytes(values.size() * 4 + 1);
  std::memcpy(bytes.data() + 1, values.data(), values.size() * 4);
  const InputArray odd(bytes.data() + 1, Shape{1, 3, 8, 8}, DType::kFloat32);
  EXPECT_EQ(numbers(predictor.predict(odd)), numbers(predictor.predict(x)));
}

TEST(Predictor, labels_may_be_given_and_change_nothing) {
  const Predictor predictor = recorded_predictor("gap");
  EXPECT_EQ(predictor.label_names(), Names{"softmax_label"});
  const NDArray x = image(2);
  const auto wanted = numbers(predictor.predict(x));
  EXPECT_EQ(numbers(predictor.predict({{"data", x}, {"softmax_label", NDArray({1, 3}, {2})}})),
            wanted);
}

// A loss that users wrote of the label is no label: without it there is no answer.
TEST(Predictor, an_argument_that_outputs_depend_on_is_an_input) {
  const Symbol data = Variable("data");
  const Symbol loss = MakeLoss("loss", square("diff", data - Variable("softmax_label")));
  const Predictor predictor(loss, {});
  EXPECT_EQ(predictor.input_names(), Names({"data", "softmax_label"}));
  EXPECT_EQ(numbers(predictor.predict({NDArray({3, 5}, {2}), NDArray({1, 2}, {2})})),
            std::vector<Floats>({{4, 9}}));
}

TEST(Predictor, internals_without_the_rest_need_less) {
  const Checkpoint net = recorded_net("gap");
  NDArrayMap few = {{"conv1_weight", net.args.at("conv1_weight")},
                    {"conv1_bias", net.args.at("conv1_bias")}};
  const Predictor predictor(net.symbol, few, {}, {.outputs = {"conv1_output"}});
  EXPECT_TRUE(predictor.label_names().empty());
  EXPECT_EQ(predictor.predict(image(1))[0].shape(), Shape({1, 16, 8, 8}));
}

TEST(Predictor, weights_are_its_own) {
  Checkpoint net = recorded_net("gap");
  const Predictor predictor(net.symbol, net.args, net.aux);
  const auto before = numbers(predictor.predict(image(1)));
  for (auto& [name, array] : net.args) array.set(0.0);
  for (auto& [name, array] : net.aux) array.set(1.0);
  EXPECT_EQ(numbers(predictor.predict(image(1))), before);
}

TEST(Predictor, outputs_belong_to_the_caller) {
  const Predictor predictor = recorded_predictor("gap");
  const std::vector<NDArray> first = predictor.predict(image(1));
  const auto kept = numbers(first);
  std::vector<NDArray> second = predictor.predict(image(1, 8, 8, 9));
  EXPECT_FALSE(first[0].aliases(second[0]));
  EXPECT_EQ(numbers(first), kept);
  second[0].set(0.0);
  EXPECT_EQ(numbers(predictor.predict(image(1))), kept);
}

// Dropout lets everything pass, BatchNorm takes the moving statistics: rows do not see one another.
TEST(Predictor, rows_are_independent) {
  const Predictor predictor = recorded_predictor("gap", {.threads = 1});
  const NDArray both = image(2);
  const Floats together = predictor.predict(both)[0].to_vector<float>();
  for (std::int64_t row = 0; row < 2; ++row) {
    const Floats alone = predictor.predict(both.slice(row, row + 1))[0].to_vector<float>();
    for (std::size_t i = 0; i < 5; ++i)
      EXPECT_NEAR(alone[i], together[static_cast<std::size_t>(row) * 5 + i], 1e-6F);
  }
}

TEST(Predictor, from_files_and_from_memory) {
  const std::string symbol = golden::path_of("predict/gap-symbol.json");
  const std::string params = golden::path_of("predict/gap-0000.params");
  const auto wanted = numbers(recorded_predictor("gap").predict(image(3)));
  EXPECT_EQ(numbers(Predictor::from_files(symbol, params).predict(image(3))), wanted);
  const std::string bytes = file_text(params);
  EXPECT_EQ(numbers(Predictor::from_memory(file_text(symbol), std::as_bytes(std::span(bytes)))
                        .predict(image(3))),
            wanted);
}

// Thirty sizes through four plans: the arena is of the largest, whatever else was seen.
TEST(Predictor, keeps_no_more_than_it_may) {
  const Predictor predictor = recorded_predictor("gap", {.threads = 1, .max_plans = 4});
  predictor.predict(image(2, 40, 40));
  const std::size_t largest = predictor.stats().arena_bytes;
  for (std::int64_t size = 10; size < 40; ++size) predictor.predict(image(1, size, size));
  EXPECT_EQ(predictor.stats().plans, 4);
  EXPECT_EQ(predictor.stats().plans_made, 31);
  EXPECT_EQ(predictor.stats().pool, 1);
  EXPECT_EQ(predictor.stats().arena_bytes, largest);
  EXPECT_EQ(predictor.stats().wired, 4);
}

TEST(Predictor, the_least_recently_used_plan_is_evicted) {
  const Predictor predictor = recorded_predictor("gap", {.max_plans = 2});
  predictor.predict(image(1));
  predictor.predict(image(2));
  predictor.predict(image(1));
  predictor.predict(image(3));  // takes the place of 2
  predictor.predict(image(1));
  EXPECT_EQ(predictor.stats().plans_made, 3);
  predictor.predict(image(2));
  EXPECT_EQ(predictor.stats().plans_made, 4);
}

TEST(Predictor, prepared_shapes_are_found) {
  const Predictor predictor = recorded_predictor("gap", {.input_shapes = {{"data", {2, 3, 9, 9}}}});
  EXPECT_EQ(predictor.stats().plans_made, 1);
  predictor.prepare({{"data", {1, 3, 9, 9}}});
  EXPECT_EQ(predictor.stats().plans_made, 2);
  predictor.predict(image(2, 9, 9));
  predictor.predict(image(1, 9, 9));
  EXPECT_EQ(predictor.stats().plans_made, 2);
}

TEST(Predictor, copies_share_everything) {
  const Predictor predictor = recorded_predictor("gap");
  const Predictor copy = predictor;
  copy.predict(image(1));
  EXPECT_EQ(predictor.stats().plans_made, 1);
}

TEST(Predictor, threads_are_the_predictors_own) {
  EXPECT_EQ(recorded_predictor("gap", {.threads = 3}).threads(), 3);
  EXPECT_EQ(numbers(recorded_predictor("gap", {.threads = 2}).predict(image(5, 30, 30))).size(),
            1U);
}

TEST(Predictor, works_after_a_fork) {
  const Predictor predictor = recorded_predictor("gap", {.threads = 1});
  const auto wanted = numbers(predictor.predict(image(2)));
  const pid_t child = fork();
  if (child == 0) {
    bool same = false;
    try {
      same = numbers(predictor.predict(image(2))) == wanted;
    } catch (...) {
    }
    _exit(same ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(numbers(predictor.predict(image(2))), wanted);
}

}  // namespace
}  // namespace symbind
