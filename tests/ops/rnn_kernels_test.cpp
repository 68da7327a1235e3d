// The two kernels of RNN against one another: random sizes in all modes, with everything the
// operator has. rnn_test.cpp has the numbers that do not come from a kernel.

#include <cmath>
#include <set>

#include <gtest/gtest.h>

#include "base/settings.h"
#include "executor/runner.h"
#include "tests/support/formula.h"
#include "tests/support/op_run.h"

namespace symbind {
namespace {

/// Numbers from 0 to n - 1, the same ones in every run.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : seed_(seed) {}
  int below(int n) {
    return static_cast<int>(formula::bits(seed_, count_++) % static_cast<std::uint64_t>(n));
  }
  bool coin() { return below(2) == 1; }

 private:
  std::uint64_t seed_, count_ = 0;
};

struct Net {
  int layers = 1, outputs = 1;
  bool both = false, projected = false, dropout = false, lengths = false;
};

/// A net of that mode; `net` receives what was drawn.
OpCase random_net(const std::string& mode, Dice& dice, Net& net) {
  const bool lstm = mode == "lstm";
  const int steps = 1 + dice.below(6), batch = 1 + dice.below(12), input = 1 + dice.below(9),
            hidden = 2 + dice.below(20),
            gates = (lstm            ? 4
                     : mode == "gru" ? 3
                                     : 1) *
                    hidden;
  net.layers = 1 + dice.below(3);
  net.both = dice.coin();
  net.projected = lstm && dice.coin();
  net.dropout = net.layers > 1 && dice.coin();
  net.lengths = dice.coin();
  net.outputs = dice.coin() ? (lstm ? 3 : 2) : 1;
  const int ways = net.both ? 2 : 1, projection = net.projected ? 1 + dice.below(hidden) : 0,
            width = net.projected ? projection : hidden;
  int count = 0;
  for (int layer = 0; layer < net.layers; ++layer)
    count +=
        ways * (gates * ((layer == 0 ? input : ways * width) + width + 2) + projection * hidden);
  OpCase c("RNN", mode);
  c.attr("mode", mode).attr("state_size", hidden).attr("num_layers", net.layers);
  c.attr("bidirectional", net.both).attr("state_outputs", net.outputs > 1);
  if (net.projected) c.attr("projection_size", projection);
  if (net.dropout) c.attr("p", 0.5);
  c.in({steps, batch, input}).in({count}, -0.6, 0.6).in({net.layers * ways, batch, width});
  if (lstm) c.in({net.layers * ways, batch, hidden});
  if (!net.lengths) return c;
  std::vector<double> lengths;  // none of a sample's steps, some, all, and more than there are
  for (int n = 0; n < batch; ++n) lengths.push_back(dice.below(steps + 2));
  c.attr("use_sequence_length", true).in({batch}, lengths).no_grad(lstm ? 4 : 3);
  return c;
}

struct Ran {
  HostTensors outputs, gradients;
};

/// Every byte of memory belongs to a NaN first: what is read before it is written shows.
Ran run_by(const std::string& kernel, const OpCase& c, const BindRequest& request) {
  const settings::override_for_test kernels("SYMBIND_KERNELS", kernel == "native" ? "" : "-native");
  BoundCase bound(c, request);
  for (const PlanStep& step : runner_of(bound.executor()).plan().steps) {
    if (!step.node || !step.node->op->name.ends_with("RNN")) continue;
    EXPECT_EQ(step.kernel, kernel) << step.node->op->name;
  }
  bound.fill_memory(0xFF);
  Ran ran{.outputs = bound.forward(), .gradients = {}};
  if (!request.grad_req.empty()) ran.gradients = bound.backward(bound.random_heads());
  return ran;
}

void expect_agreement(const OpCase& c, const BindRequest& request, Tolerance tolerance,
                      const std::string& what) {
  const Ran want = run_by("native", c, request), got = run_by("reference", c, request);
  ASSERT_EQ(got.outputs.size(), want.outputs.size());
  for (std::size_t o = 0; o < want.outputs.size(); ++o)
    EXPECT_TRUE(near(got.outputs[o], want.outputs[o], tolerance)) << what << ", output " << o;
  for (std::size_t i = 0; i < want.gradients.size(); ++i)
    if (want.gradients[i].defined()) {
      EXPECT_TRUE(near(got.gradients[i], want.gradients[i], tolerance))
          << what << ", gradient of input " << i;
    }
}

/// Both compute 16-bit types in float and round once.
Tolerance agreement_in(DType dtype) {
  return dtype == DType::kFloat64   ? Tolerance{1e-12, 1e-14}
         : dtype == DType::kFloat32 ? Tolerance{1e-5, 1e-6}
                                    : Tolerance{0x1p-10, 1e-4};
}

TEST(RnnKernels, agree_on_random_sizes_in_training_and_out_of_it) {
  Dice dice(13);
  std::set<std::string> drawn;
  for (const std::string mode : {"rnn_relu", "rnn_tanh", "lstm", "gru"})
    for (int round = 0; round < 16; ++round) {
      Net net;
      OpCase c = random_net(mode, dice, net);
      for (const auto& [name, has] :
           {std::pair{"layers", net.layers > 1}, std::pair{"both ways", net.both},
            std::pair{"dropout", net.dropout}, std::pair{"lengths", net.lengths}})
        if (has) drawn.insert(mode + ", " + name);
      if (net.projected) drawn.insert("projection");
      const std::string what = mode + ", round " + std::to_string(round);
      const std::vector<std::string> all = all_gradients(c);
      for (const DType dtype : {DType::kFloat32, DType::kFloat64, DType::kFloat16}) {
        const std::string in_type = what + " in " + std::string(dtype_name(dtype));
        const Tolerance tolerance = agreement_in(dtype);
        expect_agreement(c, {.dtype = dtype, .grad_req = all}, tolerance, in_type);
        // One output alone is read, and one gradient alone is wanted.
        const int read = dice.below(net.outputs);
        expect_agreement(c, {.dtype = dtype, .grad_req = all, .reads = {{read}}}, tolerance,
                         in_type + ", one output");
        std::vector<std::string> one(all.size(), "null");
        one[static_cast<std::size_t>(dice.below(mode == "lstm" ? 4 : 3))] = "write";
        expect_agreement(c, {.dtype = dtype, .grad_req = one}, tolerance,
                         in_type + ", one gradient");
      }
      expect_agreement(c, {}, agreement_in(DType::kFloat32), what + " without gradients");
      c.train(false);
      expect_agreement(c, {}, agreement_in(DType::kFloat32), what + " in inference");
    }
  EXPECT_EQ(drawn.size(), 4U * 4 + 1) << "every mode was drawn with everything it has";
}

// The first layer gives tanh(1) everywhere, and the second tanh(0.06 tanh(1) k), where k counts the
// outputs of the first that dropout keeps and doubles: the same ones with both kernels.
TEST(RnnKernels, drop_the_same_numbers) {
  HostTensor parameters(Shape{4 * (1 + 4) + 4 * (4 + 4) + 2 * 2 * 4});
  for (std::size_t i = 20; i < 36; ++i) parameters[i] = 0.03;  // i2h of the second layer
  for (std::size_t i = 52; i < 56; ++i) parameters[i] = 1;     // i2h bias of the first
  OpCase c("RNN", "dropped");
  c.attr("mode", "rnn_tanh").attr("state_size", 4).attr("num_layers", 2).attr("p", 0.5);
  c.in({32, 3, 1}).in(parameters.shape, parameters.values).in({2, 3, 4}, 0, 0);
  const Ran native = run_by("native", c, {}), plain = run_by("reference", c, {});
  std::set<int> seen;
  for (std::size_t i = 0; i < native.outputs[0].size(); ++i) {
    const double kept = std::atanh(plain.outputs[0][i]) / (2 * 0.03 * std::tanh(1.0));
    EXPECT_NEAR(kept, std::round(kept), 1e-4);
    seen.insert(static_cast<int>(std::round(kept)));
    EXPECT_NEAR(native.outputs[0][i], plain.outputs[0][i], 1e-6);
  }
  EXPECT_EQ(seen, (std::set{0, 1, 2, 3, 4}));
}

// Without weights all gates are 1/2 and nothing comes from the input: c' = c / 2.
TEST(RnnKernels, clip_the_cell_and_where_asked_for_a_nan) {
  const double nan = std::nan("");
  for (const bool clip_nan : {true, false}) {
    OpCase c("RNN", "clipped");
    c.attr("mode", "lstm").attr("state_size", 3).attr("num_layers", 1).attr("state_outputs", true);
    c.attr("lstm_state_clip_min", -0.25).attr("lstm_state_clip_max", 0.75);
    c.attr("lstm_state_clip_nan", clip_nan);
    c.in({1, 1, 1}).in({72}, 0, 0).in({1, 1, 3}).in({1, 1, 3}, {-8, 8, nan}).no_grad();
    for (const char* kernel : {"native", "reference"}) {
      const HostTensor cell = run_by(kernel, c, {}).outputs.at(2);
      EXPECT_EQ(cell[0], -0.25) << kernel;
      EXPECT_EQ(cell[1], 0.75) << kernel;
      EXPECT_EQ(std::isnan(cell[2]), !clip_nan) << kernel;
      EXPECT_TRUE(!clip_nan || cell[2] == -0.25) << kernel << ": " << cell[2];
    }
  }
}

}  // namespace
}  // namespace symbind
