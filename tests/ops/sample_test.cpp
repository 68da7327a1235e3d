// Samplers with parameters in arrays: every row has its own distribution.

#include "tests/ops/statistics.h"
#include "tests/support/op_case.h"

namespace symbind {
namespace {

/// The draws of one element of the parameters, against p and q.
using Expect = void (*)(const std::vector<double>& x, double p, double q);

struct Row {
  const char* name;
  std::vector<double> first, second;
  Expect expect;
};

const std::vector<Row>& rows() {
  static const std::vector<Row> all = {
      {"uniform",
       {0, 2.5, -9.75, -1},
       {1, 3.75, 4.25, 10.5},
       [](const auto& x, double p, double q) {
         expect_distribution(x, [=](double v) { return (v - p) / (q - p); });
       }},
      {"normal",
       {0, 2.5, -9.75, -7},
       {1, 3.75, 4.25, 1.5},
       [](const auto& x, double p, double q) {
         expect_distribution(x, [=](double v) { return normal_cumulative((v - p) / q); });
       }},
      {"exponential",
       {1, 8.5, 2.75, 0.5},
       {},
       [](const auto& x, double p, double) {
         expect_distribution(x, [=](double v) { return 1 - std::exp(-p * v); });
       }},
      {"gamma",
       {0.5, 2.5, 9.75, 11},
       {1, 0.75, 0.5, 0.25},
       [](const auto& x, double p, double q) {
         expect_distribution(x, [=](double v) { return gamma_cumulative(p, v / q); });
       }},
      {"poisson",
       {25, 8.5, 2.75, 0.5},
       {},
       [](const auto& x, double p, double) {
         expect_whole_distribution(x, [=](double k) { return poisson_log(p, k); });
       }},
      {"negative_binomial",
       {3, 4, 5, 6},
       {0.375, 0.75, 0.5, 0.875},
       [](const auto& x, double p, double q) {
         expect_whole_distribution(x, [=](double k) { return negative_binomial_log(p, q, k); });
       }},
      {"generalized_negative_binomial",
       {2, 2.5, 1.25, 1.75},
       {1, 0.125, 0.25, 0.5},
       [](const auto& x, double p, double q) {
         expect_whole_distribution(
             x, [=](double k) { return negative_binomial_log(1 / q, 1 / (p * q + 1), k); });
       }},
  };
  return all;
}

OP_FAMILY(sample) {
  for (const Row& row : rows()) {
    c.op(std::string("_sample_") + row.name);
    for (const char* dtype : {"None", "float64", "float16"}) {
      OpCase& one = c.add(std::string("separate rows, ") + dtype);
      one.attr("shape", "(30, 100)").attr("dtype", dtype).in({2, 2}, row.first);
      if (!row.second.empty()) one.in({2, 2}, row.second);
      one.no_grad().recovers({}).property(
          [expect = row.expect](const HostTensors& in, const HostTensors& out) {
            ASSERT_EQ(out[0].shape, Shape({2, 2, 30, 100}));
            for (std::size_t k = 0; k < 4; ++k) {
              const auto begin = out[0].values.begin() + static_cast<std::ptrdiff_t>(3000 * k);
              expect({begin, begin + 3000}, in[0][k], in.back()[k]);
            }
          });
    }
    OpCase& single = c.add("one each").in({4}, row.first);
    if (!row.second.empty()) single.in({4}, row.second);
    single.no_grad().property([](const HostTensors&, const HostTensors& out) {
      EXPECT_EQ(out[0].shape, Shape({4}));
      EXPECT_NE(out[0][0], out[0][3]);
    });
    OpCase& whole = c.add("an integer dtype").attr("dtype", "int32").in({4}, row.first);
    if (!row.second.empty()) whole.in({4}, row.second);
    whole.raises("int32");
  }
  c.op("_sample_gamma")
      .add("a small shape: numbers float16 has not")
      .attr("shape", "(3000,)")
      .in({1}, std::vector{0.125})
      .in({1}, std::vector{2.0})
      .no_grad()
      .property([](const HostTensors&, const HostTensors& out) {
        expect_distribution(out[0].values, [](double v) { return gamma_cumulative(0.125, v / 2); });
      });
  c.op("_sample_gamma")
      .add("what is no parameter gives NaN and ends")
      .in({3}, {-1, 2, std::nan("")})
      .in({3}, {1, -1, 1})
      .no_grad()
      .property([](const HostTensors&, const HostTensors& out) {
        for (const double v : out[0].values) EXPECT_TRUE(std::isnan(v));
      });
  c.op("_sample_poisson")
      .add("what is no parameter gives NaN and ends")
      .in({3}, {-1, 0, std::nan("")})
      .no_grad()
      .property([](const HostTensors&, const HostTensors& out) {
        EXPECT_TRUE(std::isnan(out[0][0]) && std::isnan(out[0][2]));
        EXPECT_EQ(out[0][1], 0);
      });
}

}  // namespace
}  // namespace symbind
