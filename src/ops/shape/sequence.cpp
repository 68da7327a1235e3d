// Sequences of unequal length in one array: SequenceMask, SequenceLast, SequenceReverse.
//
// Data is (time, sample, …) or, with axis=1, (sample, time, …); `sequence_length` has one number
// for each sample. Without use_sequence_length every sequence has the whole length.
//
//   SequenceMask     y[t] = t < length ? x[t] : value          dx = dy before the end, else 0
//   SequenceLast     y = x[length - 1]                         dx[length - 1] = dy, else 0
//   SequenceReverse  y[t] = t < length ? x[length-1-t] : x[t]  dx is dy reversed the same way
//
// Decided here: a length out of range is a run-time error (MXNet reads outside the array);
// SequenceMask accepts any number. SequenceReverse has axis 0 only, as in MXNet. By default lengths
// have the data's type. No gradient flows to lengths.
#include <cstring>

#include <symbind/operator.h>

#include "base/check.h"
#include "base/parallel.h"
#include "graph/forward_rule.h"
#include "kernels/copy_block.h"
#include "ndarray/convert.h"
#include "ndarray/dtype_dispatch.h"

namespace symbind {
namespace {

struct SequenceAttrs {
  bool use_sequence_length = false;
  int axis = 0;
  void describe(AttrVisitor& v) {
    describe_use(v);
    describe_axis(v);
  }
  void describe_use(AttrVisitor& v) {
    v.field("use_sequence_length", use_sequence_length, "Whether lengths are given as an input.");
  }
  void describe_axis(AttrVisitor& v) {
    v.field("axis", axis, "The axis of time, 0 or 1.").at_least(0).at_most(1);
  }
};
struct MaskAttrs : SequenceAttrs {
  float value = 0;
  void describe(AttrVisitor& v) {
    describe_use(v);
    v.field("value", value, "The value after the end of a sequence.");
    describe_axis(v);
  }
};

// ---- shapes

/// Lengths for the samples of the data. True when the data's rank is known.
bool infer_lengths(const SequenceAttrs& a, Inference& io, int lengths) {
  const Shape& data = io.shape(io.in(0));
  check(!data.rank_known() || data.rank() > 1, ErrorKind::kShape,
        "sequences need 2 axes or more, time and samples, not {}", data.str());
  if (a.use_sequence_length) {
    const Inference::Ref length = Inference::in(lengths);
    if (data.rank_known())
      io.set_shape(length, Shape{data[1 - a.axis]}, "one length for each sample");
    io.set_shape(length, Shape::of_rank(1), "lengths are a vector");
    if (io.dtype(length) == DType::kUnknown && io.dtype(io.in(0)) != DType::kUnknown)
      io.set_dtype(length, io.dtype(io.in(0)));
    if (data.rank_known()) {
      Shape back = Shape::of_rank(data.rank());
      back[1 - a.axis] = io.shape(length)[0];
      io.set_shape(io.in(0), back, "one sample for each length");
    }
  }
  return data.rank_known();
}
template <class A>
void infer_same(const A& a, Inference& io) {
  io.same_shape(io.in(0), io.out(0));
  io.same_dtype(io.in(0), io.out(0));
  infer_lengths(a, io, 1);
  io.same_shape(io.in(0), io.out(0));
}
void infer_reverse(const SequenceAttrs& a, Inference& io) {
  check(a.axis == 0, "SequenceReverse has axis=0 only; use SwapAxis before and after it");
  infer_same(a, io);
}
void infer_last(const SequenceAttrs& a, Inference& io) {
  io.same_dtype(io.in(0), io.out(0));
  if (!infer_lengths(a, io, 1)) return;
  Shape data = io.shape(io.in(0)), out;
  for (int d = 0; d < data.rank(); ++d)
    if (d != a.axis) out.push_back(data[d]);
  io.set_shape(io.out(0), out, "the data without the axis of time");
  const Shape& known = io.shape(io.out(0));
  for (int d = 0, k = 0; d < data.rank(); ++d)
    if (d != a.axis) data[d] = known[k++];
  io.set_shape(io.in(0), data, "the output's axes");
}
// Inputs: head, data (its shape), and lengths if they are used.
void infer_backward_last(const SequenceAttrs& a, Inference& io) {
  io.same_shape(io.in(1), io.out(0));
  io.same_dtype(io.in(1), io.out(0));
  io.same_dtype(io.in(0), io.out(0));
  ForwardSides sides{.inputs = io.num_inputs() - 1, .outputs = 1, .from = {io.out(0), io.in(0)}};
  if (io.num_inputs() > 2) sides.from.push_back(io.in(1));
  tie_to_forward(a, io, infer_last, sides);
}

// ---- kernels

struct Sequences {
  std::int64_t steps = 0, samples = 0, inner = 1;             ///< inner in elements
  std::int64_t step_stride = 0, sample_stride = 0;            ///< in elements
  std::int64_t (*read)(const void*, std::int64_t) = nullptr;  ///< null: the whole length

  Sequences(const SequenceAttrs& a, const Shape& data, const TensorDesc* lengths)
      : steps(data[a.axis]), samples(data[1 - a.axis]), inner(data.count(2)) {
    step_stride = a.axis == 0 ? samples * inner : inner;
    sample_stride = a.axis == 0 ? inner : steps * inner;
    if (a.use_sequence_length)
      read = dispatch_dtype(lengths->dtype, []<class I>() {
        return +[](const void* values, std::int64_t i) {
          return convert_element<std::int64_t>(static_cast<const I*>(values)[i]);
        };
      });
  }
  std::int64_t length(const void* lengths, std::int64_t sample, std::int64_t least) const {
    if (read == nullptr) return steps;
    const std::int64_t n = read(lengths, sample);
    check(n >= least && n <= steps, ErrorKind::kIndex,
          "sequence_length of sample {} is {}; it must be from {} to {}", sample, n, least, steps);
    return n;
  }
  std::int64_t at(std::int64_t step, std::int64_t sample) const {
    return step * step_stride + sample * sample_stride;
  }
};

const TensorDesc* lengths_of(const SequenceAttrs& a, const KernelRequest& q, std::size_t i) {
  return a.use_sequence_length ? &q.in[i] : nullptr;
}

/// Calls use(sample) for every sample, over threads.
template <class Use>
void each_sample(const Sequences& s, Use use) {
  const std::int64_t work = std::max<std::int64_t>(1, s.steps * s.inner);
  parallel_for(s.samples, std::max<std::int64_t>(1, 32768 / work),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t sample = begin; sample < end; ++sample) use(sample);
               });
}

Prepared prepare_mask(const MaskAttrs& a, const KernelRequest& q) {
  return dispatch_dtype(q.in[0].dtype, [&]<class T>() -> Prepared {
    return [s = Sequences(a, q.in[0].shape, lengths_of(a, q, 1)), bytes = q.in[0].bytes(),
            value = convert_element<T>(a.value)](const Args& args) {
      copy_bytes(args.outputs[0].data, args.inputs[0].data, bytes);
      if (s.read == nullptr) return;
      each_sample(s, [&](std::int64_t sample) {
        const std::int64_t length = s.read(args.inputs[1].data, sample);
        for (std::int64_t t = std::max<std::int64_t>(0, length); t < s.steps; ++t)
          std::fill_n(args.out<T>(0) + s.at(t, sample), s.inner, value);
      });
    };
  });
}

Prepared prepare_reverse(const SequenceAttrs& a, const KernelRequest& q) {
  return [s = Sequences(a, q.in[0].shape, lengths_of(a, q, 1)),
          bytes = static_cast<std::int64_t>(size_of(q.in[0].dtype))](const Args& args) {
    const auto* x = args.in<char>(0);
    auto* y = args.out<char>(0);
    each_sample(s, [&](std::int64_t sample) {
      const void* lengths = s.read == nullptr ? nullptr : args.inputs[1].data;
      const std::int64_t length = s.length(lengths, sample, 0);
      for (std::int64_t t = 0; t < s.steps; ++t) {
        const std::int64_t from = t < length ? length - 1 - t : t;
        std::memcpy(y + s.at(t, sample) * bytes, x + s.at(from, sample) * bytes,
                    static_cast<std::size_t>(s.inner * bytes));
      }
    });
  };
}

Prepared prepare_last(const SequenceAttrs& a, const KernelRequest& q) {
  check(q.in[0].shape[a.axis] > 0, ErrorKind::kShape,
        "there is no last step: axis {} of {} has no elements", a.axis, q.in[0].shape.str());
  return [s = Sequences(a, q.in[0].shape, lengths_of(a, q, 1)),
          bytes = static_cast<std::int64_t>(size_of(q.in[0].dtype))](const Args& args) {
    each_sample(s, [&](std::int64_t sample) {
      const void* lengths = s.read == nullptr ? nullptr : args.inputs[1].data;
      const std::int64_t last = s.length(lengths, sample, 1) - 1;
      std::memcpy(args.out<char>(0) + sample * s.inner * bytes,
                  args.in<char>(0) + s.at(last, sample) * bytes,
                  static_cast<std::size_t>(s.inner * bytes));
    });
  };
}
Prepared prepare_backward_last(const SequenceAttrs& a, const KernelRequest& q) {
  return dispatch_float(q.out[0].dtype, [&]<class T>() -> Prepared {
    return [s = Sequences(a, q.out[0].shape, lengths_of(a, q, 2)),
            n = q.out[0].shape.size()](const Args& args) {
      std::fill_n(args.out<T>(0), n, T(0));
      each_sample(s, [&](std::int64_t sample) {
        const void* lengths = s.read == nullptr ? nullptr : args.inputs[2].data;
        const std::int64_t last = s.length(lengths, sample, 1) - 1;
        std::copy_n(args.in<T>(0) + sample * s.inner, s.inner, args.out<T>(0) + s.at(last, sample));
      });
    };
  });
}

// ---- gradients

NodeEntries with_lengths(const SequenceAttrs& a, NodeEntry data_gradient) {
  NodeEntries result{std::move(data_gradient)};
  if (a.use_sequence_length) result.emplace_back();
  return result;
}
NodeEntries gradient_mask(const MaskAttrs& a, GradientBuilder& g) {
  if (!a.use_sequence_length) return {g.head(0)};
  return with_lengths(a,
                      g.call("SequenceMask", {g.head(0), g.input(1)},
                             {{"use_sequence_length", "True"}, {"axis", std::to_string(a.axis)}}));
}
NodeEntries gradient_reverse(const SequenceAttrs& a, GradientBuilder& g) {
  NodeEntries inputs{g.head(0)};
  if (a.use_sequence_length) inputs.push_back(g.input(1));
  return with_lengths(a, g.call_with_same_attrs("SequenceReverse", std::move(inputs)).front());
}
NodeEntries gradient_last(const SequenceAttrs& a, GradientBuilder& g) {
  NodeEntries inputs{g.head(0), g.input(0)};
  if (a.use_sequence_length) inputs.push_back(g.input(1));
  return with_lengths(a,
                      g.call_with_same_attrs("_backward_SequenceLast", std::move(inputs)).front());
}

using Names = std::vector<std::string>;
Names inputs_of(const SequenceAttrs& a, Names names) {
  if (a.use_sequence_length) names.emplace_back("sequence_length");
  return names;
}

}  // namespace

void register_sequence(OpRegistry& r) {
  r.add<MaskAttrs>("SequenceMask")
      .flops(0)
      .doc("Sets everything after the end of each sequence to a value.")
      .inputs([](const MaskAttrs& a) { return inputs_of(a, {"data"}); })
      .infer(infer_same)
      .gradient(gradient_mask)
      .inplace(0, 0)
      .reference(prepare_mask);
  r.add<SequenceAttrs>("SequenceLast")
      .flops(0)
      .doc("The last step of each sequence.")
      .inputs([](const SequenceAttrs& a) { return inputs_of(a, {"data"}); })
      .infer(infer_last)
      .gradient(gradient_last)
      .reference(prepare_last);
  r.add<SequenceAttrs>("_backward_SequenceLast")
      .flops(0)
      .inputs([](const SequenceAttrs& a) {
        return inputs_of(a, {"head", "data"});
      })
      .infer(infer_backward_last)
      .shape_only({1})
      .backward()
      .reference(prepare_backward_last);
  r.add<SequenceAttrs>("SequenceReverse")
      .flops(0)
      .doc("Each sequence in reverse order; elements after its end are unchanged.")
      .inputs([](const SequenceAttrs& a) { return inputs_of(a, {"data"}); })
      .infer(infer_reverse)
      .gradient(gradient_reverse)
      .reference(prepare_reverse);
}

}  // namespace symbind
