// Which keys share a bucket.

#include "kvstore/dist_buckets.h"

#include <gtest/gtest.h>

namespace symbind {
namespace {

using Table = std::vector<std::vector<std::size_t>>;

Table table(const std::vector<std::int64_t>& sizes, const std::vector<DType>& types,
            const std::vector<std::size_t>& order) {
  std::vector<PushedKey> keys;
  for (std::size_t i = 0; i < sizes.size(); ++i)
    keys.push_back({static_cast<std::int64_t>(i), types[i % types.size()]});
  return fill_buckets(keys, sizes, order);
}

constexpr std::int64_t kMega = 1 << 18;  // numbers of a megabyte of float32

TEST(DistBuckets, the_first_has_a_megabyte_and_the_others_four) {
  EXPECT_EQ(table(std::vector<std::int64_t>(8, kMega), {DType::kFloat32}, {7, 6, 5, 4, 3, 2, 1, 0}),
            (Table{{7}, {6, 5, 4, 3}, {2, 1, 0}}));
}

TEST(DistBuckets, small_keys_share_one) {
  EXPECT_EQ(table({10, 20, 30}, {DType::kFloat32}, {1, 2, 0}), (Table{{1, 2, 0}}));
}

TEST(DistBuckets, a_large_key_closes_its_bucket) {
  EXPECT_EQ(table({10, 100 * kMega, 5, 9}, {DType::kFloat32}, {0, 1, 2, 3}),
            (Table{{0, 1}, {2, 3}}));
}

TEST(DistBuckets, types_are_not_mixed) {
  EXPECT_EQ(table({10, 10, 2 * kMega, 10}, {DType::kFloat32, DType::kFloat16}, {0, 1, 2, 3}),
            (Table{{0, 2}, {1, 3}}));
  EXPECT_EQ(table({2 * kMega, kMega}, {DType::kFloat16}, {0, 1}), (Table{{0}, {1}}))
      << "bytes count, not numbers";
}

}  // namespace
}  // namespace symbind
