// The products of multi-head attention over projections whose heads are interleaved.
//
//   selfatt_qk      S = Q·Kᵀ / √d   of one array (length, batch, heads · 3d), a head being [q k v]
//   selfatt_valatt  Y = S·V         of the same array and S
//   encdec_qk       S = Q·Kᵀ / √d   of queries (length, batch, heads · d) and keys and values
//   encdec_valatt   Y = S·V         (length, batch, heads · 2d), a head being [k v]
//
// S is (batch · heads, query length, key length), Y is (query length, batch, heads · d).
//   dQ = dS·K / √d,   dK = dSᵀ·Q / √d,   dS = dY·Vᵀ,   dV = Sᵀ·dY
//
// Decided here: a head is a strided matrix, so every product is one GEMM per head with a leading
// dimension and nothing is copied. All float types; MXNet has float32 only.
#include <symbind/operator.h>

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/checked.h"
#include "graph/forward_rule.h"
#include "kernels/gemm.h"
#include "ndarray/dtype_dispatch.h"

namespace symbind {
namespace {

struct HeadsAttrs {
  int heads = 0;
  void describe(AttrVisitor& v) {
    v.field("heads", heads, "Number of attention heads.").required().at_least(1);
  }
};

// ---- Inference ----------------------------------------------------------------------------------

/// The last axis of a projection holds `parts` vectors for every head.
void check_parts(const HeadsAttrs& a, const Shape& x, int parts) {
  const std::int64_t share = std::int64_t{a.heads} * parts;
  check(x[2] < 0 || x[2] % share == 0, ErrorKind::kShape,
        "the last axis of {} must be a multiple of {}: {} vectors for each of {} heads", x.str(),
        share, parts, a.heads);
}
std::int64_t times_heads(const HeadsAttrs& a, std::int64_t batch) {
  return batch < 0 ? kUnknownDim : checked_mul(batch, a.heads, "batch · heads");
}
std::int64_t of(std::int64_t extent, std::int64_t times, std::int64_t divided) {
  return extent < 0 ? kUnknownDim : checked_mul(extent / divided, times, "the projection's length");
}

/// Projections, scores and values; `parts` vectors of a head are in `keys`, which is `queries` too
/// when there are three.
void infer_attention(const HeadsAttrs& a, Inference& io, int parts, Inference::Ref queries,
                     Inference::Ref keys, Inference::Ref scores) {
  io.set_shape(queries, Shape::of_rank(3), "(length, batch, projection)");
  io.set_shape(keys, Shape::of_rank(3), "(length, batch, projection)");
  check_parts(a, io.shape(keys), parts);
  const Shape q = io.shape(queries), k = io.shape(keys);
  io.set_shape(scores, Shape{times_heads(a, k[1]), q[0], k[0]},
               "(batch · heads, query length, key length)");
}

void infer_selfatt_qk(const HeadsAttrs& a, Inference& io) {
  io.all_same_dtype();
  infer_attention(a, io, 3, io.in(0), io.in(0), io.out(0));
}
void infer_selfatt_valatt(const HeadsAttrs& a, Inference& io) {
  io.all_same_dtype();
  infer_attention(a, io, 3, io.in(0), io.in(0), io.in(1));
  const Shape& x = io.shape(io.in(0));
  io.set_shape(io.out(0), Shape{x[0], x[1], of(x[2], 1, 3)}, "(length, batch, heads · d)");
}
void infer_encdec_qk(const HeadsAttrs& a, Inference& io) {
  io.all_same_dtype();
  infer_attention(a, io, 2, io.in(0), io.in(1), io.out(0));
  const Shape q = io.shape(io.in(0)), k = io.shape(io.in(1));
  io.set_shape(io.in(1), Shape{kUnknownDim, q[1], of(q[2], 2, 1)}, "keys and values per query");
  io.set_shape(io.in(0), Shape{kUnknownDim, k[1], of(k[2], 1, 2)}, "half of keys and values");
}
void infer_encdec_valatt(const HeadsAttrs& a, Inference& io) {
  io.all_same_dtype();
  io.set_shape(io.in(0), Shape::of_rank(3), "(length, batch, projection)");
  check_parts(a, io.shape(io.in(0)), 2);
  const Shape k = io.shape(io.in(0));
  io.set_shape(io.in(1), Shape{times_heads(a, k[1]), kUnknownDim, k[0]},
               "(batch · heads, query length, key length)");
  io.set_shape(io.out(0), Shape{io.shape(io.in(1))[1], k[1], of(k[2], 1, 2)},
               "(query length, batch, heads · d)");
  io.set_shape(io.in(1), Shape{kUnknownDim, io.shape(io.out(0))[0], kUnknownDim},
               "as many queries as outputs");
}

// ---- Kernels ------------------------------------------------------------------------------------

/// The matrices of all heads in one array: matrix t begins at offset + t · step, its rows are `ld`
/// elements apart.
struct Heads {
  std::int64_t offset, step, ld;
};

struct Sizes {
  std::int64_t heads, queries, keys, depth;  ///< `heads` of the whole batch
  /// Part `part` of the `parts` vectors of a head in a projection.
  Heads projection(int part, int parts) const {
    return {part * depth, parts * depth, heads * parts * depth};
  }
  Heads scores() const { return {0, queries * keys, keys}; }
};

Sizes sizes_of(const HeadsAttrs& a, const Shape& projection, int parts, const Shape& scores) {
  return {scores[0], scores[1], scores[2], projection[2] / (std::int64_t{a.heads} * parts)};
}

/// C = alpha · op(A) · op(B) for every head.
template <class T>
void multiply(std::int64_t heads, bool transpose_a, bool transpose_b, std::int64_t m,
              std::int64_t n, std::int64_t k, double alpha, const T* a, Heads of_a, const T* b,
              Heads of_b, T* c, Heads of_c) {
  using Acc = Accumulator<T>;
  if (heads * m * n == 0) return;
  const GemmShape shape{transpose_a, transpose_b, m, n, k, of_a.ld, of_b.ld, of_c.ld};
  each_product(shape, heads, [&](std::int64_t t) {
    gemm(shape, static_cast<Acc>(alpha), a + of_a.offset + t * of_a.step,
         b + of_b.offset + t * of_b.step, Acc(0), c + of_c.offset + t * of_c.step);
  });
}

/// One of the four products: where its operands are.
struct Product {
  const char* name;
  const char* doc;
  bool self;    ///< queries are in the array of keys and values
  bool scores;  ///< the result is S, else Y
  void (*infer)(const HeadsAttrs&, Inference&);
  std::vector<std::string> (*inputs)();

  int parts() const { return self ? 3 : 2; }
  int key() const { return self ? 1 : 0; }
  int value() const { return self ? 2 : 1; }
};

Sizes sizes_of(const Product& p, const HeadsAttrs& a, const std::vector<TensorDesc>& in,
               std::size_t first, const Shape& result) {
  const std::size_t projection = first + (p.scores && !p.self ? 1 : 0);
  const Shape& scores = p.scores ? result : in[first + 1].shape;
  return sizes_of(a, in[projection].shape, p.parts(), scores);
}

Prepared forward(const Product& p, const HeadsAttrs& a, const KernelRequest& r) {
  return dispatch_float(r.in[0].dtype, [&]<class T>() -> Prepared {
    return [p, s = sizes_of(p, a, r.in, 0, r.out[0].shape)](const Args& args) {
      T* y = args.out<T>(0);
      if (p.scores) {
        const Heads q = p.self ? s.projection(0, 3) : s.projection(0, 1);
        multiply(s.heads, false, true, s.queries, s.keys, s.depth,
                 1 / std::sqrt(static_cast<double>(s.depth)), args.in<T>(0), q,
                 args.in<T>(p.self ? 0 : 1), s.projection(p.key(), p.parts()), y, s.scores());
      } else {
        multiply(s.heads, false, false, s.queries, s.depth, s.keys, 1.0, args.in<T>(1), s.scores(),
                 args.in<T>(0), s.projection(p.value(), p.parts()), y, s.projection(0, 1));
      }
    };
  });
}

// Inputs: the head, then those of forward. Outputs: their gradients.
Prepared backward(const Product& p, const HeadsAttrs& a, const KernelRequest& r) {
  return dispatch_float(r.in[0].dtype, [&]<class T>() -> Prepared {
    return [p, s = sizes_of(p, a, r.in, 1, r.in[0].shape),
            whole = r.out[p.scores && !p.self ? 1 : 0].shape.size()](const Args& args) {
      const T* head = args.in<T>(0);
      const Heads keys = s.projection(p.key(), p.parts()),
                  values = s.projection(p.value(), p.parts()),
                  queries = p.self ? s.projection(0, 3) : s.projection(0, 1);
      const int projection = p.scores && !p.self ? 1 : 0;
      // Parts of a head that the product does not read have gradient 0.
      if (args.wants(projection)) std::fill_n(args.out<T>(projection), whole, T(0));
      if (p.scores) {
        const double scale = 1 / std::sqrt(static_cast<double>(s.depth));
        if (args.wants(0))
          multiply(s.heads, false, false, s.queries, s.depth, s.keys, scale, head, s.scores(),
                   args.in<T>(p.self ? 1 : 2), keys, args.out<T>(0), queries);
        if (args.wants(projection))
          multiply(s.heads, true, false, s.keys, s.depth, s.queries, scale, head, s.scores(),
                   args.in<T>(1), queries, args.out<T>(projection), keys);
        return;
      }
      const Heads y = s.projection(0, 1);
      if (args.wants(0))
        multiply(s.heads, true, false, s.keys, s.depth, s.queries, 1.0, args.in<T>(2), s.scores(),
                 head, y, args.out<T>(0), values);
      if (args.wants(1))
        multiply(s.heads, false, true, s.queries, s.keys, s.depth, 1.0, head, y, args.in<T>(1),
                 values, args.out<T>(1), s.scores());
    };
  });
}

const Product kProducts[] = {
    {"_contrib_interleaved_matmul_selfatt_qk", "Scores of self-attention.", true, true,
     infer_selfatt_qk, [] { return std::vector<std::string>{"queries_keys_values"}; }},
    {"_contrib_interleaved_matmul_selfatt_valatt", "Values of self-attention.", true, false,
     infer_selfatt_valatt,
     [] {
       return std::vector<std::string>{"queries_keys_values", "attention"};
     }},
    {"_contrib_interleaved_matmul_encdec_qk", "Scores of attention between two sequences.", false,
     true, infer_encdec_qk,
     [] {
       return std::vector<std::string>{"queries", "keys_values"};
     }},
    {"_contrib_interleaved_matmul_encdec_valatt", "Values of attention between two sequences.",
     false, false, infer_encdec_valatt,
     [] {
       return std::vector<std::string>{"keys_values", "attention"};
     }},
};

/// "_contrib_interleaved_…" → "_backward_interleaved_…"
std::string backward_name(const Product& p) {
  return "_backward" + std::string(p.name).substr(std::string_view("_contrib").size());
}

template <int index>
NodeEntries gradient(const HeadsAttrs&, GradientBuilder& g) {
  NodeEntries inputs{g.head(0)};
  for (int i = 0; i < g.num_inputs(); ++i) inputs.push_back(g.input(i));
  return g.call_with_same_attrs(backward_name(kProducts[index]), std::move(inputs));
}

/// The rule of forward over the inputs after the head, with the head as its output.
template <int index>
void infer_backward(const HeadsAttrs& a, Inference& io) {
  ForwardSides sides{.inputs = io.num_outputs(), .outputs = 1, .from = {io.out(0)}};
  for (int i = 0; i < io.num_outputs(); ++i) sides.from.push_back(io.in(i));
  tie_to_forward(a, io, kProducts[index].infer, sides);
  io.all_same_dtype();
  for (int i = 0; i < io.num_outputs(); ++i) io.same_shape(io.in(i + 1), io.out(i));
}

template <int index>
void add(OpRegistry& r) {
  using A = HeadsAttrs;
  const Product& p = kProducts[index];
  r.add<A>(p.name)
      .doc(p.doc)
      .inputs(p.inputs())
      .infer(p.infer)
      .gradient(gradient<index>)
      .kernel(DeviceType::kCpu, "blas", nullptr,
              [](const A& a, const KernelRequest& q, const Offer&) {
                return forward(kProducts[index], a, q);
              });
  std::vector<std::string> names = p.inputs();
  names.insert(names.begin(), "head");
  r.add<A>(backward_name(p))
      .backward()
      .inputs(names)
      .outputs(p.inputs())
      .skips_unread()
      .infer(infer_backward<index>)
      .kernel(DeviceType::kCpu, "blas", nullptr,
              [](const A& a, const KernelRequest& q, const Offer&) {
                return backward(kProducts[index], a, q);
              });
}

}  // namespace

void register_interleaved_matmul(OpRegistry& r) {
  add<0>(r);
  add<1>(r);
  add<2>(r);
  add<3>(r);
}

}  // namespace symbind
