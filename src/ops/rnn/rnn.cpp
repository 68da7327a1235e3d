// RNN: a stack of recurrent layers (relu, tanh, LSTM or GRU), in one or both directions.
//
//   relu, tanh  h' = f(W x + b + R h + c)
//   LSTM        i, f, o = σ(…),  g = tanh(…),  c' = f·c + i·g,  h' = o·tanh c'   gates i, f, g, o
//   GRU         r, z = σ(…),  n = tanh(W x + b + r·(R h + c)),  h' = (1−z)·n + z·h   gates r, z, n
//
// kernels/rnn has the arithmetic, native and as a plain reference, and where each matrix is in
// `parameters`. Decided here: what backward needs is one opaque hidden output. Dropout acts between
// layers while training; its bits come from Philox counters. Beyond MXNet's CPU:
// use_sequence_length, projection_size with gradients, lstm_state_clip_* without. 16-bit data is
// computed in float.
#include <symbind/operator.h>

#include <algorithm>
#include <optional>
#include <type_traits>

#include "base/check.h"
#include "base/checked.h"
#include "kernels/rnn/reference.h"
#include "kernels/rnn/rnn.h"
#include "kernels/weight_form.h"
#include "ndarray/convert.h"
#include "ops/rnn/staging.h"

namespace symbind {

namespace {

struct RNNAttrs {
  int state_size = 0, num_layers = 0;
  bool bidirectional = false;
  std::string mode;
  float p = 0;
  bool state_outputs = false;
  std::optional<int> projection_size;
  std::optional<double> lstm_state_clip_min, lstm_state_clip_max;
  bool lstm_state_clip_nan = false, use_sequence_length = false;

  void describe(AttrVisitor& v) {
    v.field("state_size", state_size, "Size of each layer's state.").required().at_least(0);
    v.field("num_layers", num_layers, "Number of layers.").required().at_least(0);
    v.field("bidirectional", bidirectional, "Whether every layer also runs backwards in time.");
    v.field("mode", mode, "The kind of cell.")
        .required()
        .choices({"gru", "lstm", "rnn_relu", "rnn_tanh"});
    v.field("p", p, "Fraction of each layer's outputs, but the last's, dropped in training.")
        .at_least(0)
        .at_most(1);
    v.field("state_outputs", state_outputs, "Whether the last states are outputs.");
    v.field("projection_size", projection_size, "Size an LSTM's outputs are projected to.");
    v.field("lstm_state_clip_min", lstm_state_clip_min, "Lower bound of an LSTM's cell.");
    v.field("lstm_state_clip_max", lstm_state_clip_max, "Upper bound of an LSTM's cell.");
    v.field("lstm_state_clip_nan", lstm_state_clip_nan, "Whether clipping also replaces NaN.");
    v.field("use_sequence_length", use_sequence_length,
            "Whether an input gives the number of steps of each sample.");
  }
  bool is_lstm() const { return mode == "lstm"; }
  std::vector<std::string> inputs() const {
    std::vector<std::string> names{"data", "parameters", "state"};
    if (is_lstm()) names.emplace_back("state_cell");
    if (use_sequence_length) names.emplace_back("sequence_length");
    return names;
  }
  int visible() const { return !state_outputs ? 1 : is_lstm() ? 3 : 2; }
};

void check_attrs(const RNNAttrs& a) {
  check(a.state_size > 0 && a.num_layers > 0, "state_size {} and num_layers {} must be positive",
        a.state_size, a.num_layers);
  check(!a.projection_size || a.is_lstm(), "projection_size is for mode lstm, not for {}", a.mode);
  check(!a.projection_size || (*a.projection_size > 0 && *a.projection_size <= a.state_size),
        "projection_size {} must be positive and not above state_size {}",
        a.projection_size.value_or(0), a.state_size);
  check(a.lstm_state_clip_min.has_value() == a.lstm_state_clip_max.has_value(),
        "lstm_state_clip_min and lstm_state_clip_max must be given together");
  if (!a.lstm_state_clip_min) return;
  check(a.is_lstm(), "lstm_state_clip_min is for mode lstm, not for {}", a.mode);
  check(*a.lstm_state_clip_min <= *a.lstm_state_clip_max,
        "lstm_state_clip_min {} is above lstm_state_clip_max {}", *a.lstm_state_clip_min,
        *a.lstm_state_clip_max);
}

/// Steps, batch and input stay 0 unless the data's shape is given.
rnn::Sizes sizes_of(const RNNAttrs& a, const Shape& data = {0, 0, 0}) {
  rnn::Sizes s;
  s.mode = a.is_lstm()            ? rnn::Mode::kLstm
           : a.mode == "gru"      ? rnn::Mode::kGru
           : a.mode == "rnn_relu" ? rnn::Mode::kRelu
                                  : rnn::Mode::kTanh;
  s.steps = data[0];
  s.batch = data[1];
  s.input = data[2];
  s.hidden = a.state_size;
  s.projection = a.projection_size.value_or(0);
  s.layers = a.num_layers;
  s.directions = a.bidirectional ? 2 : 1;
  s.dropout = a.num_layers > 1 ? a.p : 0;
  if (a.lstm_state_clip_min)
    s.clip = rnn::Clip{*a.lstm_state_clip_min, *a.lstm_state_clip_max, a.lstm_state_clip_nan};
  return s;
}

/// Every step multiplies every matrix among the parameters by a vector per sample; without the
/// biases.
double products(const RNNAttrs& a, const CostTensor& data, const CostTensor& parameters) {
  const double gates = a.is_lstm() ? 4 : a.mode == "gru" ? 3 : 1;
  const double biases = 2 * gates * a.state_size * a.num_layers * (a.bidirectional ? 2 : 1);
  const Shape& shape = data.desc.shape;
  return 2 * static_cast<double>(shape[0] * shape[1]) * (parameters.size() - biases);
}

// ---- Inference and gradient ---------------------------------------------------------------------

/// Throws if the number of parameters, or with the data's sizes the memory of the steps, overflows:
/// after this check all sums of rnn::Sizes and rnn::Tape fit into 64 bits.
void check_countable(const rnn::Sizes& s) {
  const auto real = [](std::int64_t n) { return static_cast<double>(n); };
  const double stacked = real(s.layers) * real(s.directions), gates = real(s.gate_width());
  const double parameters = stacked * (gates * (real(s.input) + 3 * real(s.width()) + 256) +
                                       real(s.projection) * real(s.hidden));
  const double values = real(s.steps + 2) * real(s.batch) * stacked *
                        (gates + 2 * real(s.hidden) + 4 * real(s.directions) * real(s.width()));
  check(parameters < 0x1p57 && values < 0x1p57, ErrorKind::kMemory,
        "RNN: {} layers of state_size {} over {} steps, {} samples and {} inputs need too much "
        "memory",
        s.layers, s.hidden, s.steps, s.batch, s.input);
}

/// The tensors around an RNN node, of forward or backward.
struct Places {
  Inference::Ref data, parameters, output;
  std::vector<Inference::Ref> states, cells, lengths;
};

void infer_parameters(const rnn::Sizes& s, Inference& io, const Places& at) {
  check_countable(s);
  const std::int64_t input = io.shape(at.data)[2], per_input = s.directions * s.gate_width(),
                     others = s.parameters();  // with input 0
  constexpr const char* kWhat = "the number of parameters";
  io.set_shape(at.parameters,
               Shape{input == kUnknownDim
                         ? kUnknownDim
                         : checked_add(others, checked_mul(input, per_input, kWhat), kWhat)},
               "all matrices and biases of these layers");
  const std::int64_t count = io.shape(at.parameters)[0];
  if (count == kUnknownDim || input != kUnknownDim) return;
  check(count >= others && (count - others) % per_input == 0, ErrorKind::kShape,
        "{} parameters do not fit any input size: with state_size {} they are {} and {} for every "
        "input",
        count, s.hidden, others, per_input);
  io.set_shape(at.data, Shape{kUnknownDim, kUnknownDim, (count - others) / per_input},
               "as many inputs as there are parameters for");
}

void infer_around(const RNNAttrs& a, Inference& io, const Places& at) {
  check_attrs(a);
  const rnn::Sizes s = sizes_of(a);
  const std::int64_t stacked = s.layers * s.directions, wide = s.directions * s.width();
  io.set_shape(at.data, Shape::of_rank(3), "(steps, batch, input)");
  // All of them have the batch, data and output also the steps.
  std::int64_t steps = io.shape(at.data)[0], batch = io.shape(at.data)[1];
  const auto learn = [&](Inference::Ref r, int axis, std::int64_t& to) {
    if (to == kUnknownDim && io.shape(r).rank() > axis) to = io.shape(r)[axis];
  };
  learn(at.output, 0, steps);
  learn(at.output, 1, batch);
  for (const auto& r : at.states) learn(r, 1, batch);
  for (const auto& r : at.cells) learn(r, 1, batch);
  for (const auto& r : at.lengths) learn(r, 0, batch);
  io.set_shape(at.data, Shape{steps, batch, kUnknownDim},
               "it follows from the states and the output");
  io.set_shape(at.output, Shape{steps, batch, wide}, "(steps, batch, directions · state_size)");
  for (const auto& r : at.states)
    io.set_shape(r, Shape{stacked, batch, s.width()}, "(layers · directions, batch, state_size)");
  for (const auto& r : at.cells)
    io.set_shape(r, Shape{stacked, batch, s.hidden}, "(layers · directions, batch, state_size)");
  for (const auto& r : at.lengths) io.set_shape(r, Shape{batch}, "a length for every sample");
  infer_parameters(s, io, at);
}

void same_dtypes(Inference& io, const Places& at) {
  for (const auto& r : {at.parameters, at.output}) io.same_dtype(at.data, r);
  for (const auto& r : at.states) io.same_dtype(at.data, r);
  for (const auto& r : at.cells) io.same_dtype(at.data, r);
  const DType t = io.dtype(at.data);
  check(t == DType::kUnknown || is_float(t), ErrorKind::kType,
        "RNN computes with floating point numbers, the data is {}", dtype_name(t));
  for (const auto& r : at.lengths)
    if (io.dtype(r) == DType::kUnknown && t != DType::kUnknown) io.set_dtype(r, t);
}

void infer(const RNNAttrs& a, Inference& io) {
  Places at{io.in(0), io.in(1), io.out(0), {io.in(2)}, {}, {}};
  if (a.is_lstm()) at.cells.push_back(io.in(3));
  if (a.use_sequence_length) at.lengths.push_back(io.in(a.is_lstm() ? 4 : 3));
  if (a.state_outputs) at.states.push_back(io.out(1));
  if (a.state_outputs && a.is_lstm()) at.cells.push_back(io.out(2));
  infer_around(a, io, at);
  same_dtypes(io, at);
  io.opaque(io.out(io.num_outputs() - 1));
}

// Inputs: the visible outputs' gradients, all inputs, y, the opaque output. Outputs: the gradients
// of data, parameters, state[, state_cell].
void infer_backward(const RNNAttrs& a, Inference& io) {
  const int x = a.visible();
  Places at{io.in(x), io.in(x + 1), io.in(0), {io.in(x + 2), io.out(2)}, {}, {}};
  if (a.is_lstm()) at.cells = {io.in(x + 3), io.out(3)};
  if (a.use_sequence_length) at.lengths.push_back(io.in(io.num_inputs() - 3));
  if (a.state_outputs) at.states.push_back(io.in(1));
  if (a.state_outputs && a.is_lstm()) at.cells.push_back(io.in(2));
  infer_around(a, io, at);
  same_dtypes(io, at);
  io.same_shape(io.in(0), io.in(io.num_inputs() - 2));
  io.same_shape(io.in(x), io.out(0));
  io.same_shape(io.in(x + 1), io.out(1));
  io.same_dtype(io.in(x), io.out(0));
  io.same_dtype(io.in(x + 1), io.out(1));
}

NodeEntries gradient(const RNNAttrs& a, GradientBuilder& g) {
  check(!a.lstm_state_clip_min, ErrorKind::kNotImplemented,
        "lstm_state_clip_min has no gradient: omit it, or bind with grad_req null");
  NodeEntries inputs;
  for (int i = 0; i < a.visible(); ++i) inputs.push_back(g.head(i));
  for (int i = 0; i < g.num_inputs(); ++i) inputs.push_back(g.input(i));
  inputs.push_back(g.output(0));
  inputs.push_back(g.output(a.visible()));
  NodeEntries d = g.call_with_same_attrs("_backward_RNN", std::move(inputs));
  d.resize(static_cast<std::size_t>(g.num_inputs()));  // none for the lengths
  return d;
}

// ---- Kernels ------------------------------------------------------------------------------------

const std::int64_t* read_lengths(const Args& a, int input, DType t, std::int64_t n, void* into) {
  convert(into, DType::kInt64, a.inputs[input].data, t, n);
  return static_cast<const std::int64_t*>(into);
}

/// The arithmetic of each kernel, and its memory in elements. The rest is the same.
struct Native {
  static constexpr bool kPacks = true;
  static std::int64_t tape(const rnn::Sizes& s, bool kept) { return rnn::Tape(s, kept).elements(); }
  static std::int64_t forward_scratch(const rnn::Sizes& s) { return rnn::forward_scratch(s); }
  static std::int64_t backward_scratch(const rnn::Sizes& s) { return rnn::backward_scratch(s); }
  static void run(const rnn::Sizes& s, const auto& forward) { rnn::forward(s, forward); }
  static void run_back(const rnn::Sizes& s, const auto& backward) { rnn::backward(s, backward); }
};
struct Reference {
  static constexpr bool kPacks = false;
  static std::int64_t tape(const rnn::Sizes& s, bool) { return rnn::Tape(s, true).elements(); }
  static std::int64_t forward_scratch(const rnn::Sizes&) { return 0; }
  static std::int64_t backward_scratch(const rnn::Sizes& s) {
    return rnn::reference::backward_scratch(s);
  }
  static void run(const rnn::Sizes& s, const auto& forward) { rnn::reference::forward(s, forward); }
  static void run_back(const rnn::Sizes& s, const auto& backward) {
    rnn::reference::backward(s, backward);
  }
};

template <class Kernel>
struct ForwardPlan {
  rnn::Sizes s;
  Staging staging;
  bool kept;
  std::optional<WeightForm> packed;  ///< of constant parameters
  ForwardPlan(const RNNAttrs& a, const KernelRequest& r)
      : s(sizes_of(a, r.in[0].shape)),
        staging(with_sequence(r), r.in[0].dtype, floats(a, r), r.out.size() - 1),
        kept(r.wanted.back()) {
    check_countable(s);
    const std::size_t size = r.in[0].dtype == DType::kFloat64 ? 8 : 4;
    if (!kept) staging.tape = staging.take(Kernel::tape(s, false), size);
    staging.scratch = staging.take(Kernel::forward_scratch(s), size);
    staging.lengths = staging.take(a.use_sequence_length ? s.batch : 0, 8);
    if (Kernel::kPacks && r.constant.size() > 1 && r.constant[1] &&
        r.in[1].dtype == DType::kFloat32) {
      Carver unused;
      packed.emplace(form_key({'r', static_cast<std::int64_t>(s.mode), s.input, s.hidden,
                               s.projection, s.layers, s.directions}),
                     static_cast<std::size_t>(rnn::packed_elements(s)) * sizeof(float), true,
                     unused);
    }
  }
  /// The last layer works in the output sequence, read or not.
  static KernelRequest with_sequence(KernelRequest r) {
    r.wanted.front() = true;
    return r;
  }
  static std::vector<bool> floats(const RNNAttrs& a, const KernelRequest& r) {
    std::vector<bool> all(r.in.size(), true);
    if (a.use_sequence_length) all.back() = false;
    return all;
  }
};

template <class Kernel>
Offer offer_forward(const RNNAttrs& a, const KernelRequest& r) {
  const ForwardPlan<Kernel> plan(a, r);
  Offer offer = accept_plain(r, plan.staging.total);
  const std::size_t size = r.in[0].dtype == DType::kFloat64 ? 8 : 4;
  if (plan.kept)
    offer.opaque_bytes.back() = static_cast<std::size_t>(Kernel::tape(plan.s, true)) * size;
  return offer;
}

template <class Kernel, class T>
Prepared forward_typed(const RNNAttrs& a, const KernelRequest& r) {
  return [plan = ForwardPlan<Kernel>(a, r), lstm = a.is_lstm(), states = a.state_outputs,
          with_lengths = a.use_sequence_length, type = r.in.back().dtype,
          tape = static_cast<int>(r.out.size()) - 1](const Args& args) {
    const Staging& staged = plan.staging;
    staged.load(args);
    rnn::Forward<T> io{};
    io.x = staged.input<T>(args, 0);
    io.parameters = staged.input<T>(args, 1);
    io.h0 = staged.input<T>(args, 2);
    io.c0 = lstm ? staged.input<T>(args, 3) : nullptr;
    if (with_lengths)
      io.lengths =
          read_lengths(args, lstm ? 4 : 3, type, plan.s.batch, Staging::at(args, staged.lengths));
    io.y = staged.output<T>(args, 0);
    io.hy = states ? staged.output<T>(args, 1) : nullptr;
    io.cy = states && lstm ? staged.output<T>(args, 2) : nullptr;
    io.kept = plan.kept;
    io.tape = plan.kept ? args.out<T>(tape) : reinterpret_cast<T*>(Staging::at(args, staged.tape));
    io.scratch = reinterpret_cast<T*>(Staging::at(args, staged.scratch));
    io.dropping = args.run->is_train;
    io.seed = args.run->random_seed;
    io.draw = args.run->random_draw;
    if constexpr (std::is_same_v<T, float>) {
      if (plan.packed)
        io.packed = static_cast<const float*>((*plan.packed)(args, 1, [&](void* from, void* to) {
          rnn::pack(plan.s, static_cast<const float*>(from), static_cast<float*>(to));
        }));
    }
    Kernel::run(plan.s, io);
    staged.store(args);
  };
}

template <class Kernel>
Prepared forward(const RNNAttrs& a, const KernelRequest& r, const Offer&) {
  return r.in[0].dtype == DType::kFloat64 ? forward_typed<Kernel, double>(a, r)
                                          : forward_typed<Kernel, float>(a, r);
}

template <class Kernel>
struct BackwardPlan {
  rnn::Sizes s;
  Staging staging;
  BackwardPlan(const RNNAttrs& a, const KernelRequest& r)
      : s(sizes_of(a, r.in[static_cast<std::size_t>(a.visible())].shape)),
        staging(r, r.in[0].dtype, floats(a, r), r.out.size()) {
    check_countable(s);
    const std::size_t size = r.in[0].dtype == DType::kFloat64 ? 8 : 4;
    staging.scratch = staging.take(Kernel::backward_scratch(s), size);
    staging.lengths = staging.take(a.use_sequence_length ? s.batch : 0, 8);
  }
  static std::vector<bool> floats(const RNNAttrs& a, const KernelRequest& r) {
    std::vector<bool> all(r.in.size(), true);
    all.back() = false;
    if (a.use_sequence_length) all[all.size() - 3] = false;
    return all;
  }
};

template <class Kernel>
Offer offer_backward(const RNNAttrs& a, const KernelRequest& r) {
  return accept_plain(r, BackwardPlan<Kernel>(a, r).staging.total);
}

template <class Kernel, class T>
Prepared backward_typed(const RNNAttrs& a, const KernelRequest& r) {
  return [plan = BackwardPlan<Kernel>(a, r), lstm = a.is_lstm(), states = a.state_outputs,
          with_lengths = a.use_sequence_length, first = a.visible(),
          count = static_cast<int>(r.in.size()),
          type = r.in[r.in.size() - 3].dtype](const Args& args) {
    const Staging& staged = plan.staging;
    staged.load(args);
    rnn::Backward<T> io{};
    io.dy = staged.input<T>(args, 0);
    io.dhy = states ? staged.input<T>(args, 1) : nullptr;
    io.dcy = states && lstm ? staged.input<T>(args, 2) : nullptr;
    io.x = staged.input<T>(args, first);
    io.parameters = staged.input<T>(args, first + 1);
    io.h0 = staged.input<T>(args, first + 2);
    io.c0 = lstm ? staged.input<T>(args, first + 3) : nullptr;
    if (with_lengths)
      io.lengths =
          read_lengths(args, count - 3, type, plan.s.batch, Staging::at(args, staged.lengths));
    io.y = staged.input<T>(args, count - 2);
    io.tape = args.in<T>(count - 1);
    io.dx = staged.output<T>(args, 0);
    io.dparameters = staged.output<T>(args, 1);
    io.dh0 = staged.output<T>(args, 2);
    io.dc0 = lstm ? staged.output<T>(args, 3) : nullptr;
    io.scratch = reinterpret_cast<T*>(Staging::at(args, staged.scratch));
    Kernel::run_back(plan.s, io);
    staged.store(args);
  };
}

template <class Kernel>
Prepared backward(const RNNAttrs& a, const KernelRequest& r, const Offer&) {
  return r.in[0].dtype == DType::kFloat64 ? backward_typed<Kernel, double>(a, r)
                                          : backward_typed<Kernel, float>(a, r);
}

}  // namespace

void register_rnn(OpRegistry& r) {
  using A = RNNAttrs;
  r.add<A>("RNN")
      .flops([](const A& a, const Work& w) { return products(a, w.in[0], w.in[1]); })
      .doc("A stack of recurrent layers over all steps.")
      .inputs([](const A& a) { return a.inputs(); })
      .outputs(
          [](const A& a) {
            std::vector<std::string> names{"output"};
            if (a.state_outputs) names.emplace_back("state_output");
            if (a.state_outputs && a.is_lstm()) names.emplace_back("statecell_output");
            names.emplace_back("reserve");
            return names;
          },
          [](const A& a) { return a.visible(); })
      .random()  // dropout
      .skips_unread(1)
      .infer(infer)
      .gradient(gradient)
      .kernel(DeviceType::kCpu, "native", offer_forward<Native>, forward<Native>)
      .kernel(DeviceType::kCpu, "reference", offer_forward<Reference>, forward<Reference>);
  r.add<A>("_backward_RNN")
      .flops([](const A& a, const Work& w) {
        const std::size_t data = !a.state_outputs ? 1 : a.is_lstm() ? 3 : 2;
        return products(a, w.in[data], w.in[data + 1]) *
               ((w.out[0].is_there ? 1 : 0) + (w.out[1].is_there ? 1 : 0));
      })
      .backward()
      .inputs([](const A& a) {
        std::vector<std::string> names{"dy"};
        if (a.state_outputs) names.emplace_back("dstate");
        if (a.state_outputs && a.is_lstm()) names.emplace_back("dstate_cell");
        for (const std::string& name : a.inputs()) names.push_back(name);
        names.emplace_back("output");
        names.emplace_back("reserve");
        return names;
      })
      .outputs(
          [](const A& a) {
            std::vector<std::string> names{"data", "parameters", "state"};
            if (a.is_lstm()) names.emplace_back("state_cell");
            return names;
          },
          [](const A& a) { return a.is_lstm() ? 4 : 3; })
      .skips_unread()
      .infer(infer_backward)
      .kernel(DeviceType::kCpu, "native", offer_backward<Native>, backward<Native>)
      .kernel(DeviceType::kCpu, "reference", offer_backward<Reference>, backward<Reference>);
}

}  // namespace symbind
