// Stores: sums in device order, keys, update functions, and which names there are.

#include <symbind/kvstore.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <symbind/error.h>

#include "kvstore/reduce.h"
#include "tests/support/shares.h"

namespace symbind {
namespace {

using Floats = std::vector<float>;
using testing::AllOf;
using testing::HasSubstr;

std::vector<NDArray> on_devices(const std::vector<Floats>& values, const Shape& shape) {
  std::vector<NDArray> all;
  for (std::size_t d = 0; d < values.size(); ++d)
    all.push_back(NDArray::from_vector(values[d], shape, cpu(static_cast<int>(d))));
  return all;
}

Floats pulled(KVStore& store, const Key& key, const Shape& shape) {
  NDArray out = NDArray::zeros(shape);
  store.pull(key, {out});
  return out.to_vector<float>();
}

std::string error_of(ErrorKind kind, const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), kind) << e.what();
    return e.what();
  }
  return "no error";
}

TEST(KVStore, sums_of_small_integers_are_exact_over_four_devices) {
  for (const char* type : {"local", "device", "local_allreduce_cpu", "local_allreduce_device"}) {
    const auto store = create_kvstore(type);
    EXPECT_EQ(store->type(), type);
    const Shape shape = {3, 1000};
    store->init(std::int64_t{3}, NDArray::zeros(shape));
    std::vector<Floats> values(4);
    Floats want;
    for (int i = 0; i < 3000; ++i) {
      for (int d = 0; d < 4; ++d)
        values[static_cast<std::size_t>(d)].push_back(static_cast<float>(i * (d + 1) % 97));
      want.push_back(values[0].back() + values[1].back() + values[2].back() + values[3].back());
    }
    store->push(std::int64_t{3}, on_devices(values, shape));
    EXPECT_EQ(pulled(*store, std::int64_t{3}, shape), want);
  }
}

// 1e8 + 1 is 1e8 in float32: the order of the operands shows in the sum.
TEST(KVStore, sums_are_taken_in_device_order) {
  const auto store = create_kvstore("device");
  store->init("w", NDArray::zeros({1}));
  store->push("w", on_devices({{1e8F}, {1}, {-1e8F}, {1}}, {1}));
  EXPECT_EQ(pulled(*store, "w", {1}), Floats{1});
  store->push("w", on_devices({{1e8F}, {-1e8F}, {1}, {1}}, {1}));
  EXPECT_EQ(pulled(*store, "w", {1}), Floats{2});
}

TEST(KVStore, sums_of_other_types) {
  NDArray ints(Shape({2}), cpu(), DType::kInt32);
  sum_in_order({NDArray::from_vector<std::int32_t>({1, 2}, {2}),
                NDArray::from_vector<std::int32_t>({30, 40}, {2})},
               ints);
  EXPECT_EQ(ints.to_vector<std::int32_t>(), (std::vector<std::int32_t>{31, 42}));
  // 2048 + 1 is 2048 in float16, but the sum is taken in float: 2048 + 1 + 1 is 2050.
  NDArray half(Shape({1}), cpu(), DType::kFloat16);
  const NDArray one = NDArray::ones({1}, cpu(), DType::kFloat16);
  sum_in_order({NDArray::full({1}, 2048, cpu(), DType::kFloat16), one, one}, half);
  EXPECT_EQ(half.to_vector<float>(), Floats{2050});
}

// 2,048 numbers are added at a time, and threads share all of them.
TEST(KVStore, sums_cross_the_borders_of_pieces_and_shares) {
  for (const std::size_t n : {5u, 2047u, 2048u, 2049u, 6145u, 12'290u}) {
    const Shape shape = {static_cast<std::int64_t>(n)};
    Floats a(n), b(n), want(n);
    for (std::size_t i = 0; i < n; ++i) {
      a[i] = static_cast<float>(i % 1009);
      b[i] = static_cast<float>(2 * (i % 313));
      want[i] = a[i] + b[i];
    }
    const std::vector<NDArray> values = on_devices({a, b}, shape);
    for (const int threads : {1, 2, 3}) {
      NDArray sum = NDArray::full(shape, -1);
      {
        const Shares shares(threads);
        sum_in_order(values, sum);
      }
      EXPECT_EQ(sum.to_vector<float>(), want) << n << " numbers in " << threads << " shares";
    }
  }
}

TEST(KVStore, the_last_push_replaces) {
  const auto store = create_kvstore();
  const NDArray first = NDArray::full({2}, 7);
  store->init("w", first);
  NDArray(first).set(0.0);
  EXPECT_EQ(pulled(*store, "w", {2}), (Floats{7, 7})) << "the store has its own copy";
  store->push("w", on_devices({{1, 2}, {10, 20}}, {2}));
  store->push("w", on_devices({{3, 4}, {30, 40}}, {2}));
  EXPECT_EQ(pulled(*store, "w", {2}), (Floats{33, 44}));
}

TEST(KVStore, pull_fills_every_array) {
  const auto store = create_kvstore();
  const std::vector<NDArray> outs = on_devices({{0, 0}, {0, 0}, {0, 0}}, {2});
  store->broadcast("w", NDArray({5, 6}, {2}), outs);
  for (const NDArray& out : outs) EXPECT_EQ(out.to_vector<float>(), (Floats{5, 6}));
  const std::vector<NDArray> grads = on_devices({{1, 2}, {10, 20}}, {2});
  store->pushpull("w", grads, grads);
  for (const NDArray& g : grads) EXPECT_EQ(g.to_vector<float>(), (Floats{11, 22}));
}

TEST(KVStore, an_update_function_gets_the_sum_and_the_stored_value) {
  const auto store = create_kvstore();
  store->init("w", NDArray::full({2}, 100));
  std::vector<std::string> keys;
  store->set_updater([&](const Key& key, const NDArray& merged, NDArray& stored) {
    keys.push_back(key_text(key));
    stored -= merged;
  });
  const std::vector<NDArray> grads = on_devices({{1, 2}, {10, 20}}, {2});
  store->push("w", grads);
  EXPECT_EQ(pulled(*store, "w", {2}), (Floats{89, 78}));
  store->push("w", {grads[0]});
  EXPECT_EQ(pulled(*store, "w", {2}), (Floats{88, 76}));
  EXPECT_THAT(keys, testing::ElementsAre("w", "w"));
  EXPECT_EQ(grads[0].to_vector<float>(), (Floats{1, 2})) << "gradients stay as they are";
}

TEST(KVStore, whole_numbers_wrap_around) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  const auto array = [](std::int64_t value, Context at) {
    return NDArray::from_vector(std::vector{value}, {1}, at);
  };
  const auto store = create_kvstore();
  store->init("n", array(0, cpu()));
  store->push("n", {array(kMost, cpu(0)), array(1, cpu(1))});
  NDArray sum = array(0, cpu());
  store->pull("n", {sum});
  EXPECT_EQ(sum.to_vector<std::int64_t>(), std::vector{std::numeric_limits<std::int64_t>::min()});
}

TEST(KVStore, numbers_or_names) {
  const auto store = create_kvstore();
  store->init(std::int64_t{3}, NDArray::ones({1}));
  store->init(std::int64_t{5}, NDArray::full({1}, 2));
  EXPECT_EQ(pulled(*store, std::int64_t{5}, {1}), Floats{2});
  EXPECT_EQ(store->rank(), 0);
  EXPECT_EQ(store->num_workers(), 1);
  EXPECT_TRUE(store->can_update());
}

TEST(BadInputKVStore, keys) {
  const auto store = create_kvstore();
  const NDArray one = NDArray::ones({2});
  store->init("w", one);
  EXPECT_THAT(error_of(ErrorKind::kType, [&] { store->init(std::int64_t{3}, one); }),
              HasSubstr("key 3 is a number, the keys of this store are names"));
  EXPECT_THAT(error_of(ErrorKind::kName, [&] { store->init("w", one); }),
              HasSubstr("key w was initialised before"));
  EXPECT_THAT(error_of(ErrorKind::kName, [&] { store->push("v", {one}); }),
              HasSubstr("push of key v which has not been initialised"));
  EXPECT_THAT(error_of(ErrorKind::kName, [&] { store->pull("v", {one}); }),
              HasSubstr("pull of key v which has not been initialised"));
  EXPECT_THAT(error_of(ErrorKind::kValue, [&] { store->push("w", {}); }),
              HasSubstr("push of key w without an array"));
  EXPECT_THAT(error_of(ErrorKind::kValue, [&] { store->init("u", NDArray()); }),
              HasSubstr("init of key u without a value"));
}

TEST(BadInputKVStore, shapes_and_types) {
  const auto store = create_kvstore();
  store->init("w", NDArray::ones({2}));
  EXPECT_THAT(error_of(ErrorKind::kShape,
                       [&] {
                         store->push("w", {NDArray::ones({2}), NDArray::ones({3}, cpu(1))});
                       }),
              HasSubstr("(3,) and (2,)"));
  EXPECT_THAT(error_of(ErrorKind::kShape, [&] { store->pull("w", {NDArray::ones({3})}); }),
              HasSubstr("key w has the shape (2,), the array to pull into (3,)"));
  EXPECT_THAT(
      error_of(
          ErrorKind::kType,
          [&] {
            store->push("w", {NDArray::ones({2}), NDArray::ones({2}, cpu(1), DType::kFloat64)});
          }),
      HasSubstr("float64 and float32"));
}

TEST(BadInputKVStore, line32_names_of_stores) {
  const std::string text = error_of(ErrorKind::kName, [] { create_kvstore("divice"); });
  EXPECT_THAT(text, HasSubstr("there is no kvstore 'divice'"));
  EXPECT_THAT(text, HasSubstr("'device'"));
  for (const char* other : {"nccl", "horovod", "byteps"})
    EXPECT_THAT(error_of(ErrorKind::kNotImplemented, [&] { create_kvstore(other); }),
                HasSubstr(other));
  for (const char* other : {"dist_sync", "dist_device_sync", "p3"})
    EXPECT_THAT(error_of(ErrorKind::kState, [&] { create_kvstore(other); }),
                AllOf(HasSubstr(other), HasSubstr("python -m symbind.launch")));
  EXPECT_EQ(create_kvstore("LOCAL")->type(), "local");
}

/// A store without memory.
struct Passing : KVStore {
  std::string type() const override { return "passing"; }
  void init(const Key&, const NDArray&) override {}
  void push(const Key&, const std::vector<NDArray>&, int) override {}
  void pull(const Key&, const std::vector<NDArray>& out, int) override { NDArray(out[0]).set(9.0); }
  void assign(const Key&, const NDArray&) override {}
  void set_updater(StoreUpdate) override {}
  bool can_update() const override { return false; }
};

TEST(KVStore, stores_can_be_registered) {
  register_kvstore("passing", [](const std::string&) { return std::make_shared<Passing>(); });
  const auto store = create_kvstore("Passing");
  EXPECT_EQ(store->type(), "passing");
  NDArray out = NDArray::zeros({1});
  store->pushpull("w", {out}, {out});
  EXPECT_EQ(out.to_vector<float>(), Floats{9});
  EXPECT_THAT(error_of(ErrorKind::kName, [] { create_kvstore("pasing"); }), HasSubstr("'passing'"));
}

}  // namespace
}  // namespace symbind
