// Classes drawn with given probabilities: frequencies, logarithms, gradients, types.

#include "tests/ops/statistics.h"
#include "tests/support/op_case.h"

namespace symbind {
namespace {

const std::vector<double> kTwoRows = {0, 0.125, 0.25, 0.375, 0.25, 0.25, 0.375, 0.25, 0.125, 0};

void expect_rows(const HostTensor& drawn) {
  for (std::size_t row = 0; row < 2; ++row) {
    std::vector<double> counts, probabilities;
    const auto begin = drawn.values.begin() + static_cast<std::ptrdiff_t>(row * 4000);
    for (std::size_t k = 0; k < 5; ++k) {
      const double n = static_cast<double>(std::count(begin, begin + 4000, static_cast<double>(k)));
      if (kTwoRows[row * 5 + k] == 0) {
        EXPECT_EQ(n, 0) << "a class of probability 0";
        continue;
      }
      counts.push_back(n);
      probabilities.push_back(kTwoRows[row * 5 + k]);
    }
    expect_counts(counts, probabilities);
  }
}

OP_CASES(_sample_multinomial) {
  for (const char* dtype : {"int32", "uint8", "float16", "float32", "float64"}) {
    c.add(std::string("frequencies, ") + dtype)
        .attr("shape", "(40, 100)")
        .attr("dtype", dtype)
        .in({2, 5}, kTwoRows)
        .no_grad()
        .property([](const HostTensors&, const HostTensors& out) {
          ASSERT_EQ(out[0].shape, Shape({2, 40, 100}));
          expect_rows(out[0]);
        });
  }
  c.add("rows that sum to something else")
      .attr("shape", "(4000,)")
      .in({3}, {1, 2, 5})
      .no_grad()
      .property([](const HostTensors&, const HostTensors& out) {
        std::vector<double> counts(3);
        for (const double v : out[0].values) ++counts.at(static_cast<std::size_t>(v));
        expect_counts(counts, {0.125, 0.25, 0.625});
      });
  const auto logs = [](const HostTensors& in, const HostTensors& out) {
    ASSERT_EQ(out.size(), 2u);
    const std::size_t draws = out[0].size() / 2;
    for (std::size_t i = 0; i < out[0].size(); ++i) {
      const double p = in[0][i / draws * 3 + static_cast<std::size_t>(out[0][i])];
      EXPECT_NEAR(out[1][i], std::log(p), 0.02);
    }
  };
  // In float64 the gradient is checked by differences: the draws stay the same.
  c.add("with probabilities")
      .attr("shape", "(7,)")
      .attr("get_prob", true)
      .attr("dtype", "float64")
      .in({2, 3}, {0.25, 0.5, 0.25, 0.125, 0.125, 0.75})
      .property(logs);
  c.add("with probabilities, int32")
      .attr("shape", "(2, 3)")
      .attr("get_prob", true)
      .in({2, 3}, {0.25, 0.5, 0.25, 0.125, 0.125, 0.75})
      .property(logs);
  c.add("no shape").in({2, 2}, {1, 0, 0, 1}).no_grad().ref({0, 1});
  c.add("one distribution, no shape").in({3}, {0, 0, 1}).no_grad().ref({2});
  c.add("too many classes").attr("dtype", "uint8").in({257}, 0, 1).raises("can represent only 256");
  c.add("float16 has fewer")
      .attr("dtype", "float16")
      .in({2050}, 0, 1)
      .raises("can represent only 2049");
  c.add("no type for classes").attr("dtype", "int8").in({3}, 0, 1).raises("cannot hold classes");
}

}  // namespace
}  // namespace symbind
