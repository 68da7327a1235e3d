// CTCLoss: how improbable a label sequence is under connectionist temporal classification.
//
//   y[n] = − log Σ Π_t p[t, n, π_t]   over all paths π that become the label after joining repeats
//                                     and dropping blanks;   p = softmax(x) along the last axis
//   dx[t, n, k] = dy[n] · (p[t, n, k] − Σ_{s: l_s = k} α_t(s) β_t(s) / P)
//
// with forward and backward variables over the label with blanks between (Graves et al., 2006), in
// logarithms and in double. Not a loss head: it takes a head gradient. Decided here: the gradient
// for dy = 1 is a hidden output, as in MXNet. The blank is class 0 and labels end at their first 0;
// with blank_label "last" it is the last class and labels end at −1. label_lengths overrides both.
// A label that does not fit into its steps costs 0 and has no gradient. A label that is not a class
// is an error.
#include <symbind/operator.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "base/checked.h"
#include "base/parallel.h"
#include "graph/forward_rule.h"
#include "kernels/accumulate.h"
#include "ndarray/convert.h"
#include "ndarray/dtype_dispatch.h"

namespace symbind {

namespace {

struct CTCLossAttrs {
  bool use_data_lengths = false, use_label_lengths = false;
  std::string blank_label = "first";

  void describe(AttrVisitor& v) {
    v.field("use_data_lengths", use_data_lengths,
            "Whether an input gives the number of steps of every sample.");
    v.field("use_label_lengths", use_label_lengths,
            "Whether an input gives the length of every label.");
    v.field("blank_label", blank_label, "Which class is the blank.").choices({"first", "last"});
  }
  std::vector<std::string> inputs() const {
    std::vector<std::string> names{"data", "label"};
    if (use_data_lengths) names.emplace_back("data_lengths");
    if (use_label_lengths) names.emplace_back("label_lengths");
    return names;
  }
};

void infer(const CTCLossAttrs&, Inference& io) {
  io.set_shape(io.in(0), Shape::of_rank(3), "(steps, batch, classes)");
  io.set_shape(io.in(1), Shape::of_rank(2), "(batch, labels)");
  std::int64_t batch = io.shape(io.in(0))[1];
  const auto learn = [&](Inference::Ref r) {
    if (batch == kUnknownDim && io.shape(r).rank() > 0) batch = io.shape(r)[0];
  };
  for (int i = 1; i < io.num_inputs(); ++i) learn(io.in(i));
  learn(io.out(0));
  io.set_shape(io.in(0), Shape{kUnknownDim, batch, kUnknownDim}, "a column for every label");
  io.set_shape(io.in(1), Shape{batch, kUnknownDim}, "a label for every column");
  for (int i = 2; i < io.num_inputs(); ++i)
    io.set_shape(io.in(i), Shape{batch}, "a length for every sample");
  io.set_shape(io.out(0), Shape{batch}, "a loss for every sample");
  io.same_shape(io.in(0), io.out(1));
  const std::int64_t steps = io.shape(io.in(0))[0], labels = io.shape(io.in(1))[1];
  check(steps == kUnknownDim || labels == kUnknownDim || labels <= steps, ErrorKind::kShape,
        "labels of {} do not fit into {} steps", labels, steps);
  io.same_dtype(io.in(0), io.out(0));
  io.same_dtype(io.in(0), io.out(1));
  const DType t = io.dtype(io.in(0));
  for (int i = 1; i < io.num_inputs(); ++i)
    if (io.dtype(io.in(i)) == DType::kUnknown && t != DType::kUnknown) io.set_dtype(io.in(i), t);
}

// Inputs: dy and the hidden gradient.
void infer_backward(const CTCLossAttrs& a, Inference& io) {
  io.all_same_dtype();
  io.same_shape(io.in(1), io.out(0));
  tie_to_forward(a, io, infer,
                 {.inputs = static_cast<int>(a.inputs().size()),
                  .outputs = 2,
                  .from = {io.out(0), io.out(1)}});
}

NodeEntries gradient(const CTCLossAttrs& a, GradientBuilder& g) {
  NodeEntries d = g.call_with_same_attrs("_backward_ctc_loss", {g.head(0), g.output(1)});
  d.resize(a.inputs().size());
  return d;
}

// ---- One sample ---------------------------------------------------------------------------------

constexpr double kNever = -std::numeric_limits<double>::infinity();

double log_add(double a, double b) {
  if (a < b) std::swap(a, b);
  return b == kNever ? a : a + std::log1p(std::exp(b - a));
}

/// Extents, and how the workspace of a sample is laid out (in doubles and 64-bit integers).
struct Sizes {
  std::int64_t steps, batch, classes, labels, blank, padding;
  std::int64_t states() const { return 2 * labels + 1; }
  /// logarithms of p at the label's classes, α, two rows of β, the label with blanks.
  std::int64_t doubles() const { return (2 * steps + 3) * states(); }
};

/// A sample's label with blanks around every class, and its workspace.
struct Sample {
  std::int64_t steps = 0, length = 0;  ///< of the label
  std::int64_t* classes = nullptr;     ///< 2·length + 1
  double *log_p = nullptr, *alpha = nullptr, *beta = nullptr;
  std::int64_t states() const { return 2 * length + 1; }
  /// Whether state s may be reached from s − 2: no blank, and not the same class again.
  bool skips(std::int64_t s) const { return s >= 2 && s % 2 == 1 && classes[s] != classes[s - 2]; }
  /// A repeated class needs a blank in between.
  bool fits() const {
    std::int64_t needed = length;
    for (std::int64_t s = 3; s < states(); s += 2) needed += classes[s] == classes[s - 2];
    return needed <= steps;
  }
};

/// Log probabilities of the label's classes; softmax into `p` where given.
template <class T>
void normalise(const Sizes& z, const Sample& sample, std::int64_t n, const T* x, T* p) {
  for (std::int64_t t = 0; t < sample.steps; ++t) {
    const T* row = x + (t * z.batch + n) * z.classes;
    double top = kNever, sum = 0;
    for (std::int64_t k = 0; k < z.classes; ++k) top = std::max(top, static_cast<double>(row[k]));
    for (std::int64_t k = 0; k < z.classes; ++k) sum += std::exp(static_cast<double>(row[k]) - top);
    const double log_sum = top + std::log(sum);
    for (std::int64_t s = 0; s < sample.states(); ++s)
      sample.log_p[t * sample.states() + s] = static_cast<double>(row[sample.classes[s]]) - log_sum;
    for (std::int64_t k = 0; p && k < z.classes; ++k)
      p[(t * z.batch + n) * z.classes + k] = static_cast<T>(
          static_cast<Accumulator<T>>(std::exp(static_cast<double>(row[k]) - log_sum)));
  }
}

/// Fills α and returns log P.
double forward_variables(const Sample& m) {
  const std::int64_t states = m.states();
  for (std::int64_t s = 0; s < states; ++s) m.alpha[s] = s < 2 ? m.log_p[s] : kNever;
  for (std::int64_t t = 1; t < m.steps; ++t) {
    const double* before = m.alpha + (t - 1) * states;
    for (std::int64_t s = 0; s < states; ++s) {
      double sum = before[s];
      if (s >= 1) sum = log_add(sum, before[s - 1]);
      if (m.skips(s)) sum = log_add(sum, before[s - 2]);
      m.alpha[t * states + s] = sum + m.log_p[t * states + s];
    }
  }
  const double* last = m.alpha + (m.steps - 1) * states;
  return states > 1 ? log_add(last[states - 1], last[states - 2]) : last[0];
}

/// Subtracts the posteriors from softmax.
template <class T>
void subtract_posteriors(const Sizes& z, const Sample& m, std::int64_t n, double log_total, T* p) {
  const std::int64_t states = m.states();
  double *beta = m.beta, *next = m.beta + states;
  for (std::int64_t s = 0; s < states; ++s) beta[s] = s >= states - 2 ? 0 : kNever;
  for (std::int64_t t = m.steps - 1; t >= 0; --t) {
    if (t < m.steps - 1) {
      std::swap(beta, next);
      const double* log_p = m.log_p + (t + 1) * states;
      for (std::int64_t s = 0; s < states; ++s) {
        double sum = next[s] + log_p[s];
        if (s + 1 < states) sum = log_add(sum, next[s + 1] + log_p[s + 1]);
        if (s + 2 < states && m.skips(s + 2)) sum = log_add(sum, next[s + 2] + log_p[s + 2]);
        beta[s] = sum;
      }
    }
    T* row = p + (t * z.batch + n) * z.classes;
    for (std::int64_t s = 0; s < states; ++s) {
      const double posterior = std::exp(m.alpha[t * states + s] + beta[s] - log_total);
      T& to = row[m.classes[s]];
      to = static_cast<T>(static_cast<Accumulator<T>>(static_cast<double>(to) - posterior));
    }
  }
}

/// The loss of one sample, and its gradient where `p` is given.
template <class T>
double sample_loss(const Sizes& z, const Sample& m, std::int64_t n, const T* x, T* p) {
  if (p)
    for (std::int64_t t = 0; t < z.steps; ++t)
      std::fill_n(p + (t * z.batch + n) * z.classes, z.classes, T(0));
  if (m.steps == 0 || !m.fits()) return 0;
  normalise(z, m, n, x, p);
  const double log_total = forward_variables(m);
  if (p) subtract_posteriors(z, m, n, log_total, p);
  return -log_total;
}

// ---- Kernels ------------------------------------------------------------------------------------

Sizes sizes_of(const CTCLossAttrs& a, const KernelRequest& r) {
  const Shape &x = r.in[0].shape, &label = r.in[1].shape;
  check(x[2] > 0, ErrorKind::kShape, "CTCLoss needs a class for the blank, the data has shape {}",
        x.str());
  const bool first = a.blank_label == "first";
  return {x[0], x[1], x[2], label[1], first ? 0 : x[2] - 1, first ? 0 : -1};
}

Offer offer_forward(const CTCLossAttrs& a, const KernelRequest& r) {
  const Sizes z = sizes_of(a, r);
  constexpr const char* kWhat = "the workspace of CTCLoss";
  const std::int64_t sample = checked_mul(2 * z.steps + 4, z.states(), kWhat);
  return accept_plain(
      r, static_cast<std::size_t>(checked_mul(checked_mul(z.batch, sample, kWhat), 8, kWhat)));
}

/// Whole numbers of an input, whatever its type.
struct Whole {
  int input = -1;
  DType dtype = DType::kInt32;
  void read(const Args& a, std::int64_t at, std::int64_t n, std::int64_t* to) const {
    const char* from = static_cast<const char*>(a.inputs[input].data);
    convert(to, DType::kInt64, from + static_cast<std::size_t>(at) * size_of(dtype), dtype, n);
  }
};

struct CTCPlan {
  Sizes z;
  Whole labels, data_lengths, label_lengths;

  Sample sample(const Args& args, std::int64_t n) const {
    double* doubles = static_cast<double*>(args.workspace) + n * z.doubles();
    Sample m;
    m.log_p = doubles;
    m.alpha = doubles + z.steps * z.states();
    m.beta = m.alpha + z.steps * z.states();
    m.classes = reinterpret_cast<std::int64_t*>(static_cast<double*>(args.workspace) +
                                                z.batch * z.doubles()) +
                n * z.states();
    m.steps = z.steps;
    if (data_lengths.input >= 0) data_lengths.read(args, n, 1, &m.steps);
    m.steps = std::clamp<std::int64_t>(m.steps, 0, z.steps);
    // The label is first read into the upper half of the buffer, then spread out from the front.
    std::int64_t* given = m.classes + z.labels + 1;
    labels.read(args, n * z.labels, z.labels, given);
    m.length = std::find(given, given + z.labels, z.padding) - given;
    if (label_lengths.input >= 0) label_lengths.read(args, n, 1, &m.length);
    m.length = std::clamp<std::int64_t>(m.length, 0, z.labels);
    for (std::int64_t i = 0; i < m.length; ++i) {
      const std::int64_t label = given[i];
      check(
          label >= 0 && label < z.classes && label != z.blank, ErrorKind::kIndex,
          "CTCLoss: label {} of sample {} is {}, which is not one of the {} classes with blank {}",
          i, n, label, z.classes, z.blank);
      m.classes[2 * i] = z.blank;
      m.classes[2 * i + 1] = label;
    }
    m.classes[2 * m.length] = z.blank;
    return m;
  }
};

Prepared forward(const CTCLossAttrs& a, const KernelRequest& r, const Offer&) {
  CTCPlan plan{sizes_of(a, r), {1, r.in[1].dtype}, {}, {}};
  if (a.use_data_lengths) plan.data_lengths = {2, r.in[2].dtype};
  if (a.use_label_lengths) plan.label_lengths = {a.use_data_lengths ? 3 : 2, r.in.back().dtype};
  return dispatch_float(r.in[0].dtype, [&]<class T>() -> Prepared {
    return [plan](const Args& args) {
      T *y = args.out<T>(0), *p = args.wants(1) ? args.out<T>(1) : nullptr;
      const std::int64_t grain = grain_of(16 * plan.z.doubles());
      parallel_for(plan.z.batch, grain, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t n = begin; n < end; ++n) {
          const double loss = sample_loss(plan.z, plan.sample(args, n), n, args.in<T>(0), p);
          if (y) y[n] = static_cast<T>(static_cast<Accumulator<T>>(loss));
        }
      });
    };
  });
}

Prepared backward(const CTCLossAttrs&, const KernelRequest& r) {
  return dispatch_float(r.in[0].dtype, [&]<class T>() -> Prepared {
    using Acc = Accumulator<T>;
    const Shape& x = r.in[1].shape;
    return [rows = x[0] * x[1], batch = x[1], classes = x[2]](const Args& args) {
      const T *dy = args.in<T>(0), *saved = args.in<T>(1);
      T* dx = args.out<T>(0);
      const std::int64_t grain = grain_of(classes);
      parallel_for(rows, grain, [=](std::int64_t begin, std::int64_t end) {
        for (std::int64_t row = begin; row < end; ++row) {
          const Acc head = static_cast<Acc>(dy[row % batch]);
          for (std::int64_t i = row * classes; i < (row + 1) * classes; ++i)
            dx[i] = static_cast<T>(head * static_cast<Acc>(saved[i]));
        }
      });
    };
  });
}

}  // namespace

void register_ctc_loss(OpRegistry& r) {
  using A = CTCLossAttrs;
  r.add<A>("CTCLoss")
      .alias("ctc_loss")
      .alias("_contrib_CTCLoss")
      .alias("_contrib_ctc_loss")
      .doc("The connectionist temporal classification loss of every sample.")
      .inputs([](const A& a) { return a.inputs(); })
      .outputs({"output0", "output1"}, 1)
      .skips_unread(1)
      .infer(infer)
      .gradient(gradient)
      .kernel(DeviceType::kCpu, "reference", offer_forward, forward);
  r.add<A>("_backward_ctc_loss")
      .backward()
      .inputs({"dy", "grad"})
      .infer(infer_backward)
      .inplace(1, 0)
      .reference(backward);
}

}  // namespace symbind
