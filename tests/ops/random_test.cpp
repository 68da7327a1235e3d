// Samplers with parameters as attributes: moments, frequencies, types, errors, threads.

#include <limits>

#include <symbind/executor.h>
#include <symbind/random.h>

#include "base/parallel.h"
#include "tests/ops/statistics.h"
#include "tests/support/op_case.h"

namespace symbind {
namespace {

using Expect = void (*)(const std::vector<double>&);

struct Row {
  const char* name;
  std::vector<std::pair<const char*, const char*>> attrs;
  Expect expect;
};

const std::vector<Row>& rows() {
  static const std::vector<Row> all = {
      {"uniform",
       {{"low", "-2"}, {"high", "4"}},
       [](const auto& x) {
         expect_moments(x, 1, 6 / std::sqrt(12.0));
         expect_distribution(x, [](double v) { return (v + 2) / 6; });
       }},
      {"normal",
       {{"loc", "3"}, {"scale", "0.5"}},
       [](const auto& x) {
         expect_moments(x, 3, 0.5);
         expect_distribution(x, [](double v) { return normal_cumulative((v - 3) / 0.5); });
       }},
      {"exponential",
       {{"lam", "4"}},
       [](const auto& x) {
         expect_moments(x, 0.25, 0.25);
         expect_distribution(x, [](double v) { return 1 - std::exp(-4 * v); });
       }},
      {"gamma",
       {{"alpha", "9"}, {"beta", "0.5"}},
       [](const auto& x) {
         expect_moments(x, 4.5, 1.5);
         expect_distribution(x, [](double v) { return gamma_cumulative(9, v / 0.5); });
       }},
      {"gamma",
       {{"alpha", "0.5"}, {"beta", "2"}},
       [](const auto& x) {
         expect_moments(x, 1, std::sqrt(2.0));
         expect_distribution(x, [](double v) { return gamma_cumulative(0.5, v / 2); });
       }},
      {"poisson",
       {{"lam", "4"}},
       [](const auto& x) {
         expect_moments(x, 4, 2);
         expect_whole_distribution(x, [](double k) { return poisson_log(4, k); });
       }},
      {"poisson",
       {{"lam", "30"}},
       [](const auto& x) {
         expect_moments(x, 30, std::sqrt(30.0));
         expect_whole_distribution(x, [](double k) { return poisson_log(30, k); });
       }},
      {"poisson", {{"lam", "0"}}, [](const auto& x) { EXPECT_EQ(Moments(x).highest, 0); }},
      {"negative_binomial",
       {{"k", "3"}, {"p", "0.4"}},
       [](const auto& x) {
         expect_moments(x, 4.5, std::sqrt(1.8) / 0.4);
         expect_whole_distribution(x, [](double k) { return negative_binomial_log(3, 0.4, k); });
       }},
      {"negative_binomial", {}, [](const auto& x) { EXPECT_EQ(Moments(x).highest, 0); }},
      {"generalized_negative_binomial",
       {{"mu", "2"}, {"alpha", "0.3"}},
       [](const auto& x) {
         expect_moments(x, 2, std::sqrt(3.2));
         expect_whole_distribution(
             x, [](double k) { return negative_binomial_log(1 / 0.3, 1 / 1.6, k); });
       }},
      {"generalized_negative_binomial",
       {{"mu", "3"}, {"alpha", "0"}},
       [](const auto& x) {
         expect_whole_distribution(x, [](double k) { return poisson_log(3, k); });
       }},
  };
  return all;
}

std::string title(const Row& row) {
  std::string text = "with";
  for (const auto& [key, value] : row.attrs) text += std::string(" ") + key + "=" + value;
  return text;
}

void add_distributions(OpCases& c) {
  for (const Row& row : rows()) {
    c.op(std::string("_random_") + row.name);
    for (const char* dtype : {"None", "float64", "float16"}) {
      OpCase& one = c.add(title(row) + ", " + dtype);
      for (const auto& [key, value] : row.attrs) one.attr(key, value);
      one.attr("shape", "(60, 101)").attr("dtype", dtype);
      one.property([expect = row.expect](const HostTensors&, const HostTensors& out) {
        EXPECT_EQ(out[0].shape, Shape({60, 101}));
        expect(out[0].values);
      });
    }
    OpCase& like = c.op(std::string("_random_") + row.name + "_like").add(title(row));
    for (const auto& [key, value] : row.attrs) like.attr(key, value);
    like.in({60, 101}).no_grad().property(
        [expect = row.expect](const HostTensors&, const HostTensors& out) {
          expect(out[0].values);
        });
  }
}

struct Refused {
  const char* name;
  std::vector<std::pair<const char*, const char*>> attrs;
  const char* text;
};
void add_refused(OpCases& c) {
  const std::vector<Refused> all = {
      {"uniform", {{"low", "2"}, {"high", "1"}}, "low=2 is above high=1"},
      {"normal", {{"scale", "-1"}}, "must be positive"},
      {"exponential", {{"lam", "0"}}, "must be positive"},
      {"gamma", {{"alpha", "0"}}, "must be positive"},
      {"gamma", {{"beta", "-1"}}, "must be positive"},
      {"poisson", {{"lam", "-1"}}, "must not be negative"},
      {"negative_binomial", {{"k", "-1"}}, "must not be negative"},
      {"negative_binomial", {{"p", "1.5"}}, "not a probability"},
      {"generalized_negative_binomial", {{"mu", "-1"}}, "must not be negative"},
  };
  for (const Refused& one : all) {
    OpCase& bad = c.op(std::string("_random_") + one.name).add(std::string("bad: ") + one.text);
    bad.attr("shape", "(3,)").raises(one.text);
    OpCase& like = c.op(std::string("_random_") + one.name + "_like").add("bad");
    like.in({3}).raises(one.text);
    for (const auto& [key, value] : one.attrs) {
      bad.attr(key, value);
      like.attr(key, value);
    }
  }
}

void add_bounds(OpCases& c) {
  c.op("_random_uniform");
  c.add("a whole number type").attr("shape", "(3,)").attr("dtype", "int32").raises("int32");
  c.add("float64 has fine numbers")
      .attr("shape", "(1001,)")
      .attr("dtype", "float64")
      .property([](const HostTensors&, const HostTensors& out) {
        int fine = 0;  // a float would have at most 24 bits after the point
        for (const double v : out[0].values) fine += std::fmod(v * 0x1p24, 1.0) != 0;
        EXPECT_GT(fine, 990);
      });
  for (const char* dtype : {"float16", "bfloat16", "float32"}) {
    c.add(std::string("high is never reached, ") + dtype)  // these bounds round to few numbers
        .attr("low", -1.5)
        .attr("high", -1.0)
        .attr("shape", "(30000,)")
        .attr("dtype", dtype)
        .property([](const HostTensors&, const HostTensors& out) {
          EXPECT_LT(Moments(out[0].values).highest, -1.0);
          EXPECT_GE(Moments(out[0].values).lowest, -1.5);
        });
  }
  c.op("_random_poisson")
      .add("many, by rejection")
      .attr("lam", 12.0)
      .attr("shape", "(200000,)")
      .property([](const HostTensors&, const HostTensors& out) {
        expect_moments(out[0].values, 12, std::sqrt(12.0));
        expect_whole_distribution(out[0].values, [](double k) { return poisson_log(12, k); });
      });
  c.op("_random_uniform")
      .add("bounds in one place")
      .attr("low", 1.0)
      .attr("high", 1.0)
      .attr("shape", "(5,)")
      .ref({1, 1, 1, 1, 1});
}

OP_FAMILY(random) {
  add_distributions(c);
  add_refused(c);
  add_bounds(c);
}

OP_CASES(_random_randint) {
  const auto range = [&](const char* low, const char* high, const char* dtype) {
    c.add(std::string(low) + " to " + high + ", " + dtype)
        .attr("low", low)
        .attr("high", high)
        .attr("dtype", dtype)
        .attr("shape", "(6001,)")
        .property([lo = std::stod(low), hi = std::stod(high)](const HostTensors&,
                                                              const HostTensors& out) {
          const Moments m(out[0].values);
          EXPECT_GE(m.lowest, lo);
          EXPECT_LT(m.highest, hi);
          EXPECT_GT(m.highest - m.lowest, 0.9 * (hi - lo - 1));
          expect_moments(out[0].values, (lo + hi - 1) / 2,
                         std::sqrt(((hi - lo) * (hi - lo) - 1) / 12));
        });
  };
  range("-1", "3", "None");
  range("50000000", "50001000", "int32");
  range("-2147483648", "2147483647", "int32");
  range("-500", "199", "int64");
  range("-1099511627776", "1099511627776", "int64");
  c.add("every number as likely")
      .attr("low", -2)
      .attr("high", 5)
      .attr("shape", "(7000,)")
      .property([](const HostTensors&, const HostTensors& out) {
        std::vector<double> counts(7);
        for (const double v : out[0].values) ++counts.at(static_cast<std::size_t>(v + 2));
        expect_counts(counts, std::vector<double>(7, 1.0 / 7));
      });
  c.add("nothing between").attr("low", 5).attr("high", 5).attr("shape", "(2,)").raises("low=5");
  c.add("too large")
      .attr("low", "0")
      .attr("high", "1099511627776")
      .attr("shape", "(2,)")
      .raises("do not fit int32");
  c.add("a float type").attr("low", 0).attr("high", 2).attr("dtype", "float32").raises("float32");
}

// ---- Beyond one call ----------------------------------------------------------------------------

std::vector<double> draw(const std::string& op, const AttrDict& attrs) {
  return HostTensor::from(invoke(op, {}, attrs).front()).values;
}

TEST(Samplers, an_error_is_raised_when_the_result_is_read) {
  const NDArray x = invoke("_random_normal", {}, {{"scale", "-1"}, {"shape", "(2, 2)"}}).front();
  const NDArray y = invoke("_plus_scalar", {x}, {{"scalar", "1"}}).front();
  EXPECT_THROW(HostTensor::from(y), Error);
}

TEST(Samplers, bits_do_not_depend_on_threads) {
  for (const Row& row : rows()) {
    AttrDict attrs = {{"shape", "(20000,)"}};
    for (const auto& [key, value] : row.attrs) attrs[key] = value;
    const std::string op = std::string("_random_") + row.name;
    set_num_threads(1);
    seed(11);
    const std::vector<double> one = draw(op, attrs);
    set_num_threads(3);
    seed(11);
    EXPECT_EQ(draw(op, attrs), one) << op;
    set_num_threads(0);
  }
}

TEST(Samplers, seeds_repeat_and_differ) {
  for (const char* op : {"_random_uniform", "_random_gamma", "_random_poisson"}) {
    const AttrDict attrs = {{"shape", "(100,)"}};
    seed(5);
    const std::vector<double> first = draw(op, attrs), second = draw(op, attrs);
    EXPECT_NE(first, second) << op;
    seed(5);
    EXPECT_EQ(draw(op, attrs), first) << op;
    seed(6);
    EXPECT_NE(draw(op, attrs), first) << op;
  }
}

}  // namespace
}  // namespace symbind
