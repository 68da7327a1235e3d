// Updates by sums in buckets. The store here has one worker and a bucket per key; its events show
// the order in which things happen.

#include <gtest/gtest.h>

#include <mutex>

#include "module/nets.h"

namespace symbind {
namespace {

class OneWorkerBuckets final : public PushBuckets {
 public:
  OneWorkerBuckets(std::vector<PushedKey> keys, std::map<Key, NDArray>& stored,
                   const StoreUpdate& update)
      : keys_(std::move(keys)), stored_(stored), update_(update) {
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      table_.push_back({i});
      sums_.emplace_back(stored_.at(keys_[i].key).shape(), cpu(), keys_[i].dtype);
    }
    given_.resize(keys_.size());
  }
  const std::vector<std::vector<std::size_t>>& buckets() const override { return table_; }
  std::size_t place_of(const Key& key) const override {
    return static_cast<std::size_t>(std::ranges::find(keys_, key, &PushedKey::key) - keys_.begin());
  }
  void begin() override { note("begin"); }
  void put(std::size_t place, const std::vector<NDArray>& gradients) override {
    note("put " + key_text(keys_[place].key));
    given_[place] = gradients.front().copy();
    for (std::size_t d = 1; d < gradients.size(); ++d)
      given_[place] += gradients[d].as_in_context(cpu());
    if (on_put) on_put(key_text(keys_[place].key));
  }
  void wait(std::size_t bucket) override {
    note("wait " + key_text(keys_[bucket].key));
    if (lost) throw Error(ErrorKind::kLost, "worker 1 lost");
  }
  void take(std::size_t bucket) override { given_[bucket].copy_to(sums_[bucket]); }
  const NDArray& sum(std::size_t place) const override { return sums_[place]; }
  NDArray& stored(std::size_t place) override { return stored_.at(keys_[place].key); }
  void apply(std::size_t place) override { update_(keys_[place].key, sum(place), stored(place)); }
  const StoreUpdate& update() const override { return update_; }

  std::vector<std::string> events;
  std::function<void(const std::string&)> on_put;
  bool lost = false;

 private:
  void note(std::string event) {  // the threads of several devices put gradients
    const std::lock_guard lock(guard_);
    events.push_back(std::move(event));
  }

  std::mutex guard_;
  std::vector<PushedKey> keys_;
  std::map<Key, NDArray>& stored_;
  const StoreUpdate& update_;
  std::vector<std::vector<std::size_t>> table_;
  std::vector<NDArray> given_, sums_;  ///< before and after `wait`
};

class BucketStore final : public KVStore {
 public:
  std::string type() const override { return "buckets"; }
  void init(const Key& key, const NDArray& value) override { stored_[key] = value.copy(); }
  void push(const Key&, const std::vector<NDArray>&, int) override { FAIL() << "key by key"; }
  void pull(const Key& key, const std::vector<NDArray>& out, int) override {
    for (const NDArray& target : out) stored_.at(key).copy_to(target);
  }
  void set_updater(StoreUpdate update) override { update_ = std::move(update); }
  bool has_buckets() const override { return true; }
  std::shared_ptr<PushBuckets> buckets(const std::vector<PushedKey>& keys) override {
    made = std::make_shared<OneWorkerBuckets>(keys, stored_, update_);
    return made;
  }
  std::shared_ptr<OneWorkerBuckets> made;

 private:
  std::map<Key, NDArray> stored_;
  StoreUpdate update_;
};

struct Trained {
  std::shared_ptr<BucketStore> store = std::make_shared<BucketStore>();
  std::unique_ptr<Module> module;
  MetricPtr metric = Accuracy();

  explicit Trained(const char* optimizer = "sgd",
                   OptimizerParams params = {{"learning_rate", 0.5}, {"momentum", 0.9}},
                   const ModuleOptions& options = {}) {
    params.emplace("rescale_grad", 1.0 / 8);
    module = ready(options, {.kvstore = store, .optimizer = optimizer, .optimizer_params = params});
  }
  void step(std::uint64_t seed) { module->step(batch(8, seed), *metric); }
};

using OptimizerSetup = std::pair<const char*, OptimizerParams>;
const OptimizerSetup kSetups[] = {{"sgd", {{"learning_rate", 0.5}, {"momentum", 0.9}}},
                                  {"adam", {{"wd", 0.01}}},
                                  {"adadelta", {}}};  // several operators per weight: not wired

std::map<std::string, Floats> trained_alone(const OptimizerSetup& setup) {
  auto params = setup.second;
  params.emplace("rescale_grad", 1.0 / 8);
  const auto module = ready({}, {.kvstore = std::shared_ptr<KVStore>(),
                                 .optimizer = setup.first,
                                 .optimizer_params = params});
  const MetricPtr metric = Accuracy();
  for (std::uint64_t seed = 0; seed < 5; ++seed) module->step(batch(8, seed), *metric);
  return numbers(module->get_params().args);
}

TEST(WorkerUpdate, a_job_of_one_worker_has_the_bits_of_a_training_without_a_store) {
  for (const OptimizerSetup& setup : kSetups) {
    Trained fused(setup.first, setup.second), verbs(setup.first, setup.second);
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      fused.step(seed);
      verbs.module->forward_backward(batch(8, seed));
      verbs.module->update();
    }
    EXPECT_EQ(numbers(fused.module->get_params().args), trained_alone(setup)) << setup.first;
    EXPECT_EQ(numbers(verbs.module->get_params().args), trained_alone(setup)) << setup.first;
  }
}

TEST(WorkerUpdate, sums_start_in_backward_and_updates_wait_for_the_next_use) {
  Trained t;
  t.step(0);
  OneWorkerBuckets& buckets = *t.store->made;
  buckets.events.clear();
  const ExecutorGroup& group = *t.module->group();
  NDArray first = group.grad_arrays()[0].front();
  first.set(-77);
  bool first_is_unwritten = false;
  buckets.on_put = [&](const std::string& key) {
    if (key == "fc2_weight") first_is_unwritten = first.to_vector<float>()[0] == -77;
  };
  t.step(1);
  EXPECT_TRUE(first_is_unwritten) << "fc2's sum starts before fc1's gradient is computed";
  const auto at = [&](const std::string& event) {
    return std::ranges::find(buckets.events, event) - buckets.events.begin();
  };
  // The updates of step 0 run in the forward pass, in the order of the layers.
  EXPECT_LT(at("wait fc1_weight"), at("wait fc2_weight"));
  EXPECT_LT(at("wait fc2_weight"), at("begin"));
  EXPECT_LT(at("begin"), at("put fc2_weight"));
  EXPECT_LT(at("put fc2_weight"), at("put fc1_weight"));
  EXPECT_EQ(std::ranges::count(buckets.events, "wait fc1_weight"), 1) << "of step 0 only";
  buckets.events.clear();
  group.param_arrays()[0].front().to_vector<float>();
  EXPECT_EQ(buckets.events, Names{"wait fc1_weight"}) << "an access finishes one bucket";
}

TEST(WorkerUpdate, an_update_uses_the_numbers_of_its_step) {
  Trained t("sgd", {{"learning_rate", 0.5}});
  const Floats before = t.module->get_params().args.at("fc2_bias").to_vector<float>();
  t.step(0);
  t.module->optimizer()->set_learning_rate(1000);
  EXPECT_EQ(t.module->optimizer()->num_update, 1) << "counted with the step";
  const Floats gradient = t.module->group()->grad_arrays()[3].front().to_vector<float>();
  t.module->set_params_dirty();
  const Floats after = t.module->get_params().args.at("fc2_bias").to_vector<float>();
  for (std::size_t i = 0; i < before.size(); ++i)
    EXPECT_NEAR(after[i], before[i] - 0.5F * gradient[i] / 8, 1e-6);
}

TEST(WorkerUpdate, states_are_updated_before_they_are_saved) {
  Trained late, early;
  late.step(0);
  early.step(0);
  for (const auto& row : early.module->group()->param_arrays()) row.front().to_vector<float>();
  EXPECT_EQ(late.module->updater()->get_states(), early.module->updater()->get_states());
}

TEST(WorkerUpdate, several_devices_are_summed_before_their_bucket) {
  Trained t("sgd", {{"learning_rate", 0.5}, {"momentum", 0.9}}, {.context = cpus(2)});
  const auto local = ready({.context = cpus(2)},
                           {.kvstore = "local",
                            .optimizer = "sgd",
                            .optimizer_params = {{"learning_rate", 0.5}, {"momentum", 0.9}}});
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    t.step(seed);
    local->step(batch(8, seed), *t.metric);
  }
  EXPECT_EQ(numbers(t.module->get_params().args), numbers(local->get_params().args));
}

TEST(WorkerUpdate, a_frozen_parameter_has_no_sum) {
  Trained t("sgd", {{"learning_rate", 0.5}}, {.fixed_param_names = {"fc1_weight"}});
  const Floats before = t.module->get_params().args.at("fc1_weight").to_vector<float>();
  t.step(0);
  t.step(1);
  for (const std::string& event : t.store->made->events)
    EXPECT_EQ(event.find("fc1_weight"), std::string::npos) << event;
  EXPECT_EQ(t.module->get_params().args.at("fc1_weight").to_vector<float>(), before);
}

TEST(WorkerUpdate, a_lost_worker_is_reported_by_the_first_use) {
  Trained t;
  t.step(0);
  t.store->made->lost = true;
  expect_error(
      ErrorKind::kLost, [&] { t.step(1); }, "worker 1 lost");
  expect_error(
      ErrorKind::kLost, [&] { t.module->get_params(); }, "worker 1 lost");
}

}  // namespace
}  // namespace symbind
