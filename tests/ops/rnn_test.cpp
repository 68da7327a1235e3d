// RNN: recorded in all modes, layers and directions; lengths, projection, clipping and dropout,
// which MXNet's CPU does not have or draws, against cells written out here.

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include <symbind/executor.h>
#include <symbind/random.h>

#include "base/parallel.h"
#include "tests/support/op_case.h"

namespace symbind {
namespace {

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

/// One layer in one direction, sample by sample and gate by gate.
struct Written {
  std::string mode;
  std::size_t input, hidden, projection = 0;
  double clip = 1e9;
  std::size_t gates() const { return mode == "lstm" ? 4 : mode == "gru" ? 3 : 1; }
  std::size_t width() const { return projection > 0 ? projection : hidden; }

  /// Matrices and biases are stored one after the other.
  void step(const double* w, const double* x, std::vector<double>& h,
            std::vector<double>& c) const {
    const std::size_t n = gates() * hidden;
    const double *r = w + n * input, *p = r + n * width(), *b = p + projection * hidden;
    std::vector<double> from_x(n), from_h(n), out(hidden);
    for (std::size_t g = 0; g < n; ++g) {
      from_x[g] = b[g];
      from_h[g] = b[n + g];
      for (std::size_t i = 0; i < input; ++i) from_x[g] += w[g * input + i] * x[i];
      for (std::size_t i = 0; i < width(); ++i) from_h[g] += r[g * width() + i] * h[i];
    }
    const auto sum = [&](std::size_t gate, std::size_t i) {
      return from_x[gate * hidden + i] + from_h[gate * hidden + i];
    };
    for (std::size_t i = 0; i < hidden; ++i) {
      if (mode == "rnn_relu") out[i] = std::max(0.0, sum(0, i));
      if (mode == "rnn_tanh") out[i] = std::tanh(sum(0, i));
      if (mode == "lstm") {
        c[i] = sigmoid(sum(1, i)) * c[i] + sigmoid(sum(0, i)) * std::tanh(sum(2, i));
        c[i] = std::clamp(c[i], -clip, clip);
        out[i] = sigmoid(sum(3, i)) * std::tanh(c[i]);
      }
      if (mode == "gru") {
        const double reset = sigmoid(sum(0, i)), update = sigmoid(sum(1, i));
        const double fresh = std::tanh(from_x[2 * hidden + i] + reset * from_h[2 * hidden + i]);
        out[i] = (1 - update) * fresh + update * h[i];
      }
    }
    h.assign(width(), 0);
    for (std::size_t i = 0; i < width(); ++i) {
      if (projection == 0) h[i] = out[i];
      for (std::size_t k = 0; projection > 0 && k < hidden; ++k) h[i] += p[i * hidden + k] * out[k];
    }
  }

  /// Outputs y, the last h and, for an LSTM, the last c. Inputs as the operator's; the last one has
  /// lengths where `with_lengths`.
  HostTensors operator()(const HostTensors& in, bool both, bool with_lengths) const {
    const auto steps = static_cast<std::size_t>(in[0].shape[0]),
               batch = static_cast<std::size_t>(in[0].shape[1]);
    const std::size_t ways = both ? 2 : 1,
                      weights = gates() * hidden * (input + width()) + projection * hidden;
    const bool lstm = mode == "lstm";
    HostTensor y(Shape{in[0].shape[0], in[0].shape[1], static_cast<std::int64_t>(ways * width())});
    HostTensor hy(in[2].shape), cy = lstm ? HostTensor(in[3].shape) : HostTensor();
    for (std::size_t d = 0; d < ways; ++d) {
      std::vector<double> w(in[1].values.begin() + static_cast<std::ptrdiff_t>(d * weights),
                            in[1].values.begin() + static_cast<std::ptrdiff_t>((d + 1) * weights));
      for (std::size_t i = 0; i < 2 * gates() * hidden; ++i)
        w.push_back(in[1][ways * weights + d * 2 * gates() * hidden + i]);
      for (std::size_t n = 0; n < batch; ++n) {
        std::vector<double> h(width()), c(hidden);
        for (std::size_t i = 0; i < width(); ++i) h[i] = in[2][(d * batch + n) * width() + i];
        for (std::size_t i = 0; lstm && i < hidden; ++i) c[i] = in[3][(d * batch + n) * hidden + i];
        const std::size_t own = with_lengths ? static_cast<std::size_t>(in.back()[n]) : steps;
        for (std::size_t s = 0; s < own; ++s) {
          const std::size_t t = d == 0 ? s : own - 1 - s;
          step(w.data(), &in[0].values[(t * batch + n) * input], h, c);
          for (std::size_t i = 0; i < width(); ++i)
            y[((t * batch + n) * ways + d) * width() + i] = h[i];
        }
        for (std::size_t i = 0; i < width(); ++i) hy[(d * batch + n) * width() + i] = h[i];
        for (std::size_t i = 0; lstm && i < hidden; ++i) cy[(d * batch + n) * hidden + i] = c[i];
      }
    }
    HostTensors all{y, hy};
    if (lstm) all.push_back(cy);
    return all;
  }
};

/// One layer of `cell` over 4 steps and 3 samples.
OpCase& add_written(OpCases& c, const std::string& name, const Written& cell, bool both,
                    bool with_lengths) {
  const std::int64_t ways = both ? 2 : 1, hidden = static_cast<std::int64_t>(cell.hidden),
                     width = static_cast<std::int64_t>(cell.width()),
                     input = static_cast<std::int64_t>(cell.input),
                     gates = static_cast<std::int64_t>(cell.gates()) * hidden;
  const std::int64_t count =
      ways * (gates * (input + width + 2) + static_cast<std::int64_t>(cell.projection) * hidden);
  OpCase& k = c.add(name)
                  .attr("mode", cell.mode)
                  .attr("state_size", static_cast<int>(hidden))
                  .attr("num_layers", 1)
                  .attr("bidirectional", both)
                  .attr("state_outputs", true)
                  .in({4, 3, input})
                  .in({count}, -0.6, 0.6)
                  .in({ways, 3, width});
  if (cell.mode == "lstm") k.in({ways, 3, hidden});
  if (with_lengths)
    k.attr("use_sequence_length", true)
        .in({3}, std::vector<double>{4, 2, 1})
        .no_grad(cell.mode == "lstm" ? 4 : 3);
  return k.ref([=](const HostTensors& in) { return cell(in, both, with_lengths); });
}

OP_CASES(RNN) {
  // Its own sums are long: 16-bit types are computed in float and rounded once.
  c.recorded();
  for (const std::string mode : {"rnn_relu", "rnn_tanh", "lstm", "gru"}) {
    const Written cell{mode, 3, 5};
    add_written(c, mode + ", written out", cell, false, false).recovers({1, 2});
    add_written(c, mode + ", lengths", cell, false, true);
    add_written(c, mode + ", lengths, both ways", cell, true, true);
  }
  // More gates than the 64 columns that are summed at a time.
  add_written(c, "wide gates", {"gru", 3, 24}, true, false);
  const auto clipped = [&](OpCase& k) -> OpCase& {
    return k.attr("lstm_state_clip_min", -0.25).attr("lstm_state_clip_max", 0.25).no_grad();
  };
  add_written(c, "projection", {"lstm", 3, 5, 2}, false, false).attr("projection_size", 2);
  add_written(c, "projection, lengths, both ways", {"lstm", 3, 5, 2}, true, true)
      .attr("projection_size", 2);
  clipped(add_written(c, "clipped", {"lstm", 3, 5, 0, 0.25}, false, false));
  const auto bad = [&](const std::string& name) -> OpCase& {
    return c.add(name)
        .attr("mode", "gru")
        .attr("state_size", 2)
        .attr("num_layers", 1)
        .in({2, 3, 4});
  };
  bad("parameters of another number").in({7}).in({1, 3, 2}).raises("(48,)");
  bad("projection of a GRU")
      .attr("projection_size", 1)
      .in({48})
      .in({1, 3, 2})
      .raises("projection_size");
  bad("half a clip").attr("lstm_state_clip_min", 0.5).in({48}).in({1, 3, 2}).raises("together");
}

Symbol lstm(AttrDict attrs) {
  attrs.insert({{"mode", "lstm"}, {"state_size", "4"}, {"num_layers", "2"}});
  return make_symbol("RNN", "rnn", std::vector{Variable("data")}, attrs);
}

TEST(RNN, dropout_acts_between_layers_in_training_only) {
  const auto run = [](const char* p, bool train) {
    Executor exe = lstm({{"p", p}}).simple_bind(cpu(), {{"data", {5, 3, 2}}});
    for (auto& [name, array] : exe.arg_dict())
      HostTensor::formula(array.shape(), 7).array().copy_to(array);
    const std::vector<float> y = exe.forward(train).at(0).to_vector<float>();
    exe.backward({NDArray::ones({5, 3, 4})});  // also after is_train=False
    return std::pair(y, exe.grad_dict()["rnn_parameters"].to_vector<float>());
  };
  EXPECT_EQ(run("0", true).first, run("0.5", false).first);
  EXPECT_EQ(run("0", true).second, run("0.5", false).second);
  EXPECT_NE(run("0", true).first, run("0.5", true).first);
  // All dropped: the second layer sees zeros, so its i2h matrix (after 4·4·(2 + 4) weights of the
  // first layer) has no gradient, and neither has the first layer.
  const std::vector<float> gradient = run("1", true).second;
  for (std::size_t i = 0; i < 96 + 64; ++i) EXPECT_EQ(gradient[i], 0) << i;
  EXPECT_NE(gradient[96 + 64], 0);
}

TEST(RNN, dropout_keeps_the_gradient_of_what_it_kept) {
  // d(Σ y)/dx along the data, by differences under the same draw.
  const auto run = [](double shift, std::vector<float>* gradient) {
    seed(11);
    Executor exe =
        lstm({{"p", "0.5"}})
            .simple_bind(cpu(), {{"data", {3, 2, 2}}}, {.types = {{"data", DType::kFloat64}}});
    for (auto& [name, array] : exe.arg_dict())
      HostTensor::formula(array.shape(), 3).array(DType::kFloat64).copy_to(array);
    HostTensor x = HostTensor::formula({3, 2, 2}, 5);
    x[4] += shift;
    x.array(DType::kFloat64).copy_to(exe.arg_dict()["data"]);
    const std::vector<double> y = exe.forward(true).at(0).to_vector<double>();
    exe.backward({NDArray::full({3, 2, 4}, 1, cpu(), DType::kFloat64)});
    if (gradient) *gradient = exe.grad_dict()["data"].astype(DType::kFloat32).to_vector<float>();
    double sum = 0;
    for (const double v : y) sum += v;
    return sum;
  };
  std::vector<float> gradient;
  run(0, &gradient);
  EXPECT_NEAR(gradient[4], (run(1e-5, nullptr) - run(-1e-5, nullptr)) / 2e-5, 1e-6);
}

TEST(RNN, the_batch_flows_from_the_data_to_the_states) {
  const auto shapes = lstm({{"state_outputs", "True"}}).infer_shape({{"data", {7, 3, 5}}});
  EXPECT_EQ(shapes.args.at(2), (Shape{2, 3, 4}));
  EXPECT_EQ(shapes.args.at(3), (Shape{2, 3, 4}));
  EXPECT_EQ(shapes.outputs.at(0), (Shape{7, 3, 4}));
}

TEST(ThreadsRNN, threads_share_the_batch_and_give_the_same) {
  const auto run = [](int threads) {
    set_num_threads(threads);
    Executor exe = lstm({{"bidirectional", "True"}, {"state_outputs", "True"}})
                       .simple_bind(cpu(), {{"data", {6, 37, 9}}});
    for (auto& [name, array] : exe.arg_dict())
      HostTensor::formula(array.shape(), 5, -0.5, 0.5).array().copy_to(array);
    HostTensors all;
    for (const NDArray& y : exe.forward(true)) all.push_back(HostTensor::from(y));
    exe.backward({NDArray::ones({6, 37, 8}), NDArray::ones({4, 37, 4}), NDArray::ones({4, 37, 4})});
    for (const auto& [name, gradient] : exe.grad_dict()) all.push_back(HostTensor::from(gradient));
    set_num_threads(0);
    return all;
  };
  const HostTensors one = run(1), four = run(4);
  for (std::size_t i = 0; i < one.size(); ++i)
    EXPECT_TRUE(near(four[i], one[i], {2e-6, 1e-7})) << i;
}

TEST(BadInputRNN, clipping_has_no_gradient) {
  const Symbol net = lstm({{"lstm_state_clip_min", "-1"}, {"lstm_state_clip_max", "1"}});
  EXPECT_THROW(net.simple_bind(cpu(), {{"data", {2, 3, 4}}}), Error);
  EXPECT_NO_THROW(net.simple_bind(cpu(), {{"data", {2, 3, 4}}}, {.grad_req = "null"}));
}

}  // namespace
}  // namespace symbind
