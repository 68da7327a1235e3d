// Orders drawn at random, and different classes.

#include <numeric>
#include <set>

#include <symbind/executor.h>
#include <symbind/random.h>

#include "tests/ops/statistics.h"
#include "tests/support/op_case.h"

namespace symbind {
namespace {

std::vector<double> counting(int n) {
  std::vector<double> x(static_cast<std::size_t>(n));
  std::iota(x.begin(), x.end(), 0.0);
  return x;
}

OP_CASES(_shuffle) {
  c.add("rows stay whole")
      .in({50, 2, 3}, counting(300))
      .no_grad()
      .dtypes({DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kInt32, DType::kInt64})
      .property([](const HostTensors&, const HostTensors& out) {
        std::set<double> rows;
        int moved = 0;
        for (std::size_t i = 0; i < 50; ++i) {
          const double first = out[0][6 * i];
          EXPECT_EQ(std::fmod(first, 6), 0);
          for (std::size_t j = 1; j < 6; ++j)
            EXPECT_EQ(out[0][6 * i + j], first + static_cast<double>(j));
          rows.insert(first);
          moved += first != 6 * static_cast<double>(i);
        }
        EXPECT_EQ(rows.size(), 50u);
        EXPECT_GT(moved, 30);
      });
  c.add("one row").in({1, 4}).no_grad().ref([](const HostTensors& in) { return in[0]; });
  c.add("many rows")
      .in({100000}, counting(100000))
      .no_grad()
      .dtypes({DType::kFloat64, DType::kInt32})
      .property([](const HostTensors& in, const HostTensors& out) {
        std::vector<double> sorted = out[0].values;
        std::sort(sorted.begin(), sorted.end());
        EXPECT_EQ(sorted, in[0].values);
        // Halves mix: the first half holds low and high numbers alike.
        const double low =
            static_cast<double>(std::count_if(out[0].values.begin(), out[0].values.begin() + 50000,
                                              [](double v) { return v < 5e4; }));
        EXPECT_NEAR(low, 25000, 5 * std::sqrt(12500.0));
      });
}

TEST(Samplers, every_order_is_as_likely) {
  seed(3);
  const NDArray x = HostTensor({3}, {0, 1, 2}).array(DType::kFloat32);
  std::map<std::vector<double>, double> counts;
  for (int i = 0; i < 3000; ++i) ++counts[HostTensor::from(invoke("_shuffle", {x}).front()).values];
  ASSERT_EQ(counts.size(), 6u);
  std::vector<double> all;
  for (const auto& [order, count] : counts) all.push_back(count);
  expect_counts(all, std::vector<double>(6, 1.0 / 6));
}

OP_CASES(_sample_unique_zipfian) {
  c.add("different classes, and the draws it takes")  // counts of other implementations
      .attr("range_max", 793472)
      .attr("shape", "(4, 8192)")
      .property([](const HostTensors&, const HostTensors& out) {
        for (std::size_t row = 0; row < 4; ++row) {
          const auto begin = out[0].values.begin() + static_cast<std::ptrdiff_t>(row * 8192);
          EXPECT_EQ(std::set<double>(begin, begin + 8192).size(), 8192u);
          EXPECT_GT(out[1][row], 14500);
          EXPECT_LT(out[1][row], 17000);
        }
      });
  c.add("one at a time, small ones more often")
      .attr("range_max", 4)
      .attr("shape", "(3000, 1)")
      .property([](const HostTensors&, const HostTensors& out) {
        std::vector<double> counts(4), probabilities;
        for (const double v : out[0].values) ++counts.at(static_cast<std::size_t>(v));
        for (int k = 0; k < 4; ++k)
          probabilities.push_back(std::log((k + 2.0) / (k + 1)) / std::log(5.0));
        expect_counts(counts, probabilities);
        EXPECT_EQ(Moments(out[1].values).highest, 1);
      });
  c.add("all there are")
      .attr("range_max", 5)
      .attr("shape", "(2, 5)")
      .property([](const HostTensors&, const HostTensors& out) {
        for (std::size_t row = 0; row < 2; ++row) {
          const auto begin = out[0].values.begin() + static_cast<std::ptrdiff_t>(row * 5);
          EXPECT_EQ(std::set<double>(begin, begin + 5), (std::set<double>{0, 1, 2, 3, 4}));
        }
      });
  c.add("too many").attr("range_max", 4).attr("shape", "(2, 5)").raises("cannot be drawn");
  c.add("a vector").attr("range_max", 4).attr("shape", "(2,)").raises("(batch, samples)");
}

}  // namespace
}  // namespace symbind
