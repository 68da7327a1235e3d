// Diagonals and triangles of square matrices as vectors, and matrices made of them:
// _linalg_extractdiag, _linalg_makediag, _linalg_extracttrian, _linalg_maketrian.
//
//   extractdiag   y[i] = A[i, i + offset]                        makediag back, zeros elsewhere
//   extracttrian  the triangle from the diagonal `offset` outwards, packed    maketrian back
//
// A lower triangle is packed row by row, an upper one column by column. `lower` applies only if
// offset is 0. Each of a pair is the other's gradient.
#include <cmath>
#include <cstdlib>

#include <symbind/operator.h>

#include "base/checked.h"
#include "base/parallel.h"
#include "ndarray/dtype_dispatch.h"
#include "ops/linalg/linalg_matrix.h"

namespace symbind {
namespace {

struct DiagonalAttrs {
  int offset = 0;
  std::int64_t shift() const { return std::abs(std::int64_t{offset}); }
  void describe(AttrVisitor& v) {
    v.field("offset", offset, "Which diagonal: above the main one when positive.");
  }
  /// Elements for a diagonal of this length, and the length for that many elements (-1: none).
  std::int64_t packed(std::int64_t length) const { return length; }
  std::int64_t length(std::int64_t packed) const { return packed; }
  /// The offsets of the elements in a matrix with n columns.
  std::vector<std::int64_t> places(std::int64_t n) const {
    std::vector<std::int64_t> result;
    for (std::int64_t i = 0; i < n - shift(); ++i)
      result.push_back(offset > 0 ? i * n + i + offset : (i - offset) * n + i);
    return result;
  }
};
struct TriangleAttrs {
  int offset = 0;
  bool lower = true;
  std::int64_t shift() const { return std::abs(std::int64_t{offset}); }
  void describe(AttrVisitor& v) {
    v.field("offset", offset, "The diagonal at which the triangle begins.");
    v.field("lower", lower, "Which triangle, if offset is 0.");
  }
  std::int64_t packed(std::int64_t length) const {
    return checked_mul(length, length + 1, "the elements of a triangle, twice") / 2;
  }
  std::int64_t length(std::int64_t packed) const {
    auto length = static_cast<std::int64_t>(std::sqrt(2.0 * static_cast<double>(packed)));
    while (length > 0 && this->packed(length) > packed) --length;
    return this->packed(length) == packed ? length : -1;
  }
  std::vector<std::int64_t> places(std::int64_t n) const {
    const bool below = offset == 0 ? lower : offset < 0;
    std::vector<std::int64_t> result;
    for (std::int64_t i = 0; i < n - shift(); ++i)
      for (std::int64_t j = 0; j <= i; ++j)
        result.push_back(below ? (i - offset) * n + j : j * n + i + offset);
    return result;
  }
};

/// `matrix` has the square matrices, `vector` what is taken of them.
template <class A>
void infer(const A& a, Inference& io, Inference::Ref matrix, Inference::Ref vector) {
  io.all_same_dtype();
  const std::int64_t shift = a.shift();
  const Shape m = io.shape(matrix);
  if (m.rank_known()) {
    check_square(m);
    const std::int64_t n = std::max(m.back(), m[m.rank() - 2]);
    check(n < 0 || n > shift, ErrorKind::kValue, "offset={} is not a diagonal of matrices {}",
          a.offset, m.str());
    Shape packed(std::span(m.begin(), m.end() - 2));
    packed.push_back(n < 0 ? kUnknownDim : a.packed(n - shift));
    io.set_shape(vector, packed, "the elements of the diagonal or triangle");
  }
  const Shape v = io.shape(vector);
  if (!v.rank_known()) return;
  check(v.rank() > 0, ErrorKind::kShape, "a vector is needed, not a scalar");
  std::int64_t n = kUnknownDim;
  if (v.back() >= 0) {
    const std::int64_t length = a.length(v.back());
    check(length >= 0, ErrorKind::kShape, "{} elements do not fill a triangle; 1, 3, 6, 10, … do",
          v.back());
    n = length + shift;
  }
  Shape square(std::span(v.begin(), v.end() - 1));
  square.push_back(n);
  square.push_back(n);
  io.set_shape(matrix, square, "the matrices of the diagonal or triangle");
}

template <class A>
Prepared extract(const A& a, const KernelRequest& q) {
  const std::int64_t n = q.in[0].shape.back();
  return dispatch_float(q.in[0].dtype, [&]<class T>() -> Prepared {
    return [places = a.places(n), size = n * n,
            count = q.in[0].shape.count(0, q.in[0].shape.rank() - 2)](const Args& args) {
      T* y = args.out<T>(0);
      for (std::int64_t i = 0; i < count; ++i)
        for (const std::int64_t at : places) *y++ = args.in<T>(0)[i * size + at];
    };
  });
}
template <class A>
Prepared make(const A& a, const KernelRequest& q) {
  const std::int64_t n = q.out[0].shape.back();
  return dispatch_float(q.in[0].dtype, [&]<class T>() -> Prepared {
    return [places = a.places(n), size = n * n,
            count = q.in[0].shape.count(0, q.in[0].shape.rank() - 1)](const Args& args) {
      const T* x = args.in<T>(0);
      std::fill_n(args.out<T>(0), count * size, T(0));
      for (std::int64_t i = 0; i < count; ++i)
        for (const std::int64_t at : places) args.out<T>(0)[i * size + at] = *x++;
    };
  });
}

template <class A>
void add_pair(OpRegistry& r, const std::string& what, const char* doc, const char* back_doc,
              NodeEntries (*gradient)(const A&, GradientBuilder&),
              NodeEntries (*back_gradient)(const A&, GradientBuilder&)) {
  r.add<A>("_linalg_extract" + what)
      .doc(doc)
      .alias("linalg_extract" + what)
      .inputs(std::vector<std::string>{"A"})
      .infer([](const A& a, Inference& io) { infer(a, io, io.in(0), io.out(0)); })
      .gradient(gradient)
      .reference(extract<A>);
  r.add<A>("_linalg_make" + what)
      .doc(back_doc)
      .alias("linalg_make" + what)
      .inputs(std::vector<std::string>{"A"})
      .infer([](const A& a, Inference& io) { infer(a, io, io.out(0), io.in(0)); })
      .gradient(back_gradient)
      .reference(make<A>);
}

}  // namespace

void register_linalg_diagonal(OpRegistry& r) {
  add_pair<DiagonalAttrs>(
      r, "diag", "A diagonal of square matrices.", "Matrices with a given diagonal.",
      [](const DiagonalAttrs&, GradientBuilder& g) {
        return g.call_with_same_attrs("_linalg_makediag", {g.head(0)});
      },
      [](const DiagonalAttrs&, GradientBuilder& g) {
        return g.call_with_same_attrs("_linalg_extractdiag", {g.head(0)});
      });
  add_pair<TriangleAttrs>(
      r, "trian", "A triangle of square matrices, packed.",
      "Matrices with a given packed triangle.",
      [](const TriangleAttrs&, GradientBuilder& g) {
        return g.call_with_same_attrs("_linalg_maketrian", {g.head(0)});
      },
      [](const TriangleAttrs&, GradientBuilder& g) {
        return g.call_with_same_attrs("_linalg_extracttrian", {g.head(0)});
      });
}

}  // namespace symbind
