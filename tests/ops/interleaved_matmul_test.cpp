// The products of attention: recorded, and against their definition.

#include <cmath>

#include "tests/support/op_case.h"

namespace symbind {
namespace {

/// Element (position, head of the batch, part, d) of a projection with `parts` vectors a head.
double at(const HostTensor& x, std::int64_t heads, int parts, std::int64_t position,
          std::int64_t head, int part, std::int64_t d) {
  const std::int64_t batch = x.shape[1], depth = x.shape[2] / (heads * parts);
  const std::int64_t row = position * batch + head / heads;
  return x[static_cast<std::size_t>((row * heads + head % heads) * parts * depth + part * depth +
                                    d)];
}

HostTensor scores(const HostTensor& q, const HostTensor& k, std::int64_t heads, int q_parts,
                  int k_parts, int key) {
  const std::int64_t depth = q.shape[2] / (heads * q_parts);
  HostTensor s(Shape{q.shape[1] * heads, q.shape[0], k.shape[0]});
  std::size_t to = 0;
  for (std::int64_t h = 0; h < s.shape[0]; ++h)
    for (std::int64_t i = 0; i < s.shape[1]; ++i)
      for (std::int64_t j = 0; j < s.shape[2]; ++j) {
        double sum = 0;
        for (std::int64_t d = 0; d < depth; ++d)
          sum += at(q, heads, q_parts, i, h, 0, d) * at(k, heads, k_parts, j, h, key, d);
        s[to++] = sum / std::sqrt(static_cast<double>(depth));
      }
  return s;
}

HostTensor values(const HostTensor& v, const HostTensor& s, std::int64_t heads, int parts,
                  int value) {
  const std::int64_t depth = v.shape[2] / (heads * parts);
  HostTensor y(Shape{s.shape[1], v.shape[1], heads * depth});
  std::size_t to = 0;
  for (std::int64_t i = 0; i < y.shape[0]; ++i)
    for (std::int64_t h = 0; h < s.shape[0]; ++h)
      for (std::int64_t d = 0; d < depth; ++d) {
        double sum = 0;
        for (std::int64_t j = 0; j < s.shape[2]; ++j)
          sum += s[static_cast<std::size_t>((h * s.shape[1] + i) * s.shape[2] + j)] *
                 at(v, heads, parts, j, h, value, d);
        y[to++] = sum;
      }
  return y;
}

OP_CASES(_contrib_interleaved_matmul_selfatt_qk) {
  c.recorded();
  c.add("two heads").attr("heads", 2).in({3, 2, 12}).ref([](const HostTensors& in) {
    return scores(in[0], in[0], 2, 3, 3, 1);
  });
  c.add("no thirds").attr("heads", 2).in({3, 2, 8}).raises("multiple of 6");
}
OP_CASES(_contrib_interleaved_matmul_selfatt_valatt) {
  c.recorded();
  c.add("two heads").attr("heads", 2).in({3, 2, 12}).in({4, 3, 3}).ref([](const HostTensors& in) {
    return values(in[0], in[1], 2, 3, 2);
  });
  c.add("scores of others").attr("heads", 2).in({3, 2, 12}).in({4, 3, 2}).raises("needed (4,");
}
OP_CASES(_contrib_interleaved_matmul_encdec_qk) {
  c.recorded();
  c.add("two heads").attr("heads", 2).in({3, 2, 4}).in({5, 2, 8}).ref([](const HostTensors& in) {
    return scores(in[0], in[1], 2, 1, 2, 0);
  });
  c.add("other batches").attr("heads", 2).in({3, 2, 4}).in({5, 1, 8}).raises("(5, 1, 8)");
}
OP_CASES(_contrib_interleaved_matmul_encdec_valatt) {
  c.recorded();
  c.add("two heads").attr("heads", 2).in({5, 2, 8}).in({4, 3, 5}).ref([](const HostTensors& in) {
    return values(in[0], in[1], 2, 2, 1);
  });
  c.add("scores of others").attr("heads", 2).in({5, 2, 8}).in({4, 3, 4}).raises("needed (4,");
}

}  // namespace
}  // namespace symbind
