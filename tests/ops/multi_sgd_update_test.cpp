// Gradient descent on several weights at once: every group against the formula.

#include <algorithm>

#include <gtest/gtest.h>

#include <symbind/executor.h>

#include "tests/support/op_case.h"

namespace symbind {
namespace {

constexpr double kLrs[] = {0.5, 0.25}, kWds[] = {0.25, 0.0}, kMomentum = 0.75;

struct Form {
  bool mom, mixed, preloaded;
  int group() const { return 2 + (mom ? 1 : 0) + (mixed ? 1 : 0); }
};

/// The outputs, then what every group overwrites.
HostTensors expected(const Form& f, const HostTensors& in) {
  HostTensors out, states;
  for (std::size_t k = 0; k < 2; ++k) {
    const std::size_t first = k * static_cast<std::size_t>(f.group());
    HostTensor w = in[f.mixed ? first + (f.mom ? 3 : 2) : first];
    HostTensor m = f.mom ? in[first + 2] : HostTensor(w.shape);
    for (std::size_t i = 0; i < w.size(); ++i) {
      const double g = std::clamp(0.5 * in[first + 1][i], -0.25, 0.25);
      m[i] = (f.mom ? kMomentum * m[i] : 0) - kLrs[k] * (kWds[k] * w[i] + g);
      w[i] += m[i];
    }
    out.push_back(w);
    if (f.mom) states.push_back(m);
    if (f.mixed) states.push_back(w);
  }
  out.insert(out.end(), states.begin(), states.end());
  return out;
}

OP_FAMILY(multi_sgd_update) {
  for (const bool preloaded : {false, true}) {
    for (const bool mixed : {false, true}) {
      for (const bool mom : {false, true}) {
        const Form f{mom, mixed, preloaded};
        const std::string name = std::string(preloaded ? "preloaded_multi_" : "multi_") +
                                 (mixed ? "mp_" : "") + (mom ? "sgd_mom_update" : "sgd_update");
        c.op(name).recorded();
        OpCase& two = c.add("two weights");
        two.attr("num_weights", 2).attr("rescale_grad", 0.5).attr("clip_gradient", 0.25);
        if (mom) two.attr("momentum", kMomentum);
        if (!preloaded) two.attr("lrs", "(0.5, 0.25)").attr("wds", "(0.25, 0)");
        for (const Shape& shape : {Shape{3, 4}, Shape{5}})
          for (int i = 0; i < f.group(); ++i) two.in(shape);
        if (preloaded) two.in({2}, {0.5, 0.25}).in({2}, {0.25, 0});
        if (mixed) two.dtypes({DType::kFloat16, DType::kBFloat16, DType::kFloat32});
        two.imperative_only().ref([f](const HostTensors& in) { return expected(f, in); });
        if (mom || mixed) continue;
        OpCase& wrong = c.add("rates that do not fit").attr("num_weights", 1);
        if (!preloaded) wrong.attr("lrs", "(0.5, 0.25)").attr("wds", "(0.25,)");
        wrong.in({3}).in({3});
        if (preloaded) wrong.in({2}).in({1});
        wrong.imperative_only().raises(preloaded ? "one rate for each weight"
                                                 : "1 weights need as many learning rates");
      }
    }
  }
}

// ---- Inputs in groups ---------------------------------------------------------------------------

const AttrDict kTwo = {{"lrs", "(0.5, 0.25)"}, {"wds", "(0, 0)"}};

std::vector<Symbol> variables(int n) {
  std::vector<Symbol> all;
  for (int i = 0; i < n; ++i) all.push_back(Variable("v" + std::to_string(i)));
  return all;
}

TEST(Groups, are_counted_named_and_read_back) {
  const Symbol s = make_symbol("multi_sgd_update", "m", variables(4), kTwo);
  EXPECT_EQ(s.list_outputs(), (std::vector<std::string>{"m_output0", "m_output1"}));
  EXPECT_EQ(s.attr_dict().at("m").at("num_weights"), "2");
  EXPECT_EQ(Symbol::load_json(s.tojson()).tojson(), s.tojson());
  AttrDict one = {{"lrs", "(0.5,)"}, {"wds", "(0,)"}, {"num_weights", "1"}};
  EXPECT_EQ(make_symbol("multi_sgd_mom_update", "m", std::vector<Symbol>{}, one).list_arguments(),
            (std::vector<std::string>{"m_weight_0", "m_grad_0", "m_mom_0"}));
}

// As MXNet: what is missing becomes a variable, what is too much is refused.
TEST(Groups, a_count_that_does_not_fit_is_refused) {
  AttrDict three = kTwo;
  three["num_weights"] = "3";
  EXPECT_EQ(make_symbol("multi_sgd_update", "m", variables(4), three).list_arguments().back(),
            "m_grad_2");
  AttrDict one = kTwo;
  one["num_weights"] = "1";
  try {
    make_symbol("multi_sgd_update", "m", variables(4), one);
    FAIL() << "one group of four inputs";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("num_weights=1, but 4 inputs"), std::string::npos)
        << e.what();
  }
}

TEST(Groups, rates_change_from_call_to_call) {
  const NDArray g = NDArray::full({1}, 1, cpu());
  const auto step = [&](const char* lrs) {
    const NDArray a = NDArray::full({1}, 0, cpu()), b = NDArray::full({1}, 0, cpu());
    invoke("multi_sgd_update", {a, g, b, g},
           {{"lrs", lrs}, {"wds", "(0, 0)"}, {"num_weights", "2"}}, {a, b});
    return std::pair{HostTensor::from(a)[0], HostTensor::from(b)[0]};
  };
  EXPECT_EQ(step("(0.5, 0.25)"), (std::pair{-0.5, -0.25}));
  EXPECT_EQ(step("(2, 4)"), (std::pair{-2.0, -4.0}));
  EXPECT_THROW(step("(2,)"), Error);
}

}  // namespace
}  // namespace symbind
