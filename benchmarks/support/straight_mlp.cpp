#include "support/straight_mlp.h"

#include <algorithm>
#include <cmath>

#include <map>
#include <tuple>

#include <cblas.h>
#if SYMBIND_HAVE_ONEDNN
#include <dnnl.h>
#endif

#include "base/parallel.h"
#include "support/report.h"

namespace symbind::bench {
namespace {

// Row-major C = op(A) op(B), by whichever library is faster for the shape: measured once per shape.
enum class Library { kOpenBlas, kOneDnn };

void gemm_by(Library library, bool ta, bool tb, int m, int n, int k, const float* a, const float* b,
             float* c) {
  const int lda = ta ? m : k, ldb = tb ? k : n;
  if (library == Library::kOpenBlas) {
    cblas_sgemm(CblasRowMajor, ta ? CblasTrans : CblasNoTrans, tb ? CblasTrans : CblasNoTrans, m, n,
                k, 1.f, a, lda, b, ldb, 0.f, c, n);
    return;
  }
#if SYMBIND_HAVE_ONEDNN
  dnnl_sgemm(ta ? 'T' : 'N', tb ? 'T' : 'N', m, n, k, 1.f, a, lda, b, ldb, 0.f, c, n);
#endif
}

Library faster(bool ta, bool tb, int m, int n, int k, const float* a, const float* b, float* c) {
  if (!SYMBIND_HAVE_ONEDNN) return Library::kOpenBlas;
  double best[2] = {1e9, 1e9};
  for (int round = 0; round < 30; ++round) {
    for (const Library library : {Library::kOpenBlas, Library::kOneDnn}) {
      const double t = time_once([&] { gemm_by(library, ta, tb, m, n, k, a, b, c); });
      double& b_of = best[static_cast<int>(library)];
      if (round > 5 && t < b_of) b_of = t;
    }
  }
  return best[1] < best[0] ? Library::kOneDnn : Library::kOpenBlas;
}

void gemm(bool ta, bool tb, int m, int n, int k, const float* a, const float* b, float* c) {
  static std::map<std::tuple<bool, bool, int, int, int, int>, Library> chosen;
  const auto key = std::tuple(ta, tb, m, n, k, num_threads());
  auto it = chosen.find(key);
  if (it == chosen.end()) it = chosen.emplace(key, faster(ta, tb, m, n, k, a, b, c)).first;
  gemm_by(it->second, ta, tb, m, n, k, a, b, c);
}

std::vector<float> filled(int count, float scale) {
  std::vector<float> v(static_cast<std::size_t>(count));
  unsigned state = 1;
  for (float& x : v) {
    state = state * 1664525u + 1013904223u;
    x = scale * (static_cast<float>(state >> 8) * 0x1p-23f - 1);
  }
  return v;
}

}  // namespace

StraightMlp::StraightMlp(int batch) : batch_(batch), x_(filled(batch * 784, 1)) {
  constexpr int kSizes[] = {784, 128, 64, 10};
  for (int i = 0; i < 3; ++i) {
    const int in = kSizes[i], out = kSizes[i + 1];
    layers_.push_back({in, out, filled(in * out, 0.05f), filled(out, 0), filled(batch * out, 0),
                       filled(batch * out, 0), filled(in * out, 0), filled(out, 0)});
  }
}

void StraightMlp::run(bool all) {
  const float* x = x_.data();
  for (Layer& l : layers_) {
    gemm(false, true, batch_, l.out, l.in, x, l.weight.data(), l.y.data());
    const bool last = &l == &layers_.back();
    for (int r = 0; all && r < batch_; ++r) {
      float* y = l.y.data() + r * l.out;
      for (int j = 0; j < l.out; ++j)
        y[j] = last ? y[j] + l.bias[static_cast<std::size_t>(j)]
                    : std::max(0.f, y[j] + l.bias[static_cast<std::size_t>(j)]);
      if (!last) continue;
      const float top = *std::max_element(y, y + l.out);
      float sum = 0;
      for (int j = 0; j < l.out; ++j) sum += y[j] = std::exp(y[j] - top);
      for (int j = 0; j < l.out; ++j) y[j] /= sum;
      for (int j = 0; j < l.out; ++j)
        l.dy[static_cast<std::size_t>(r * l.out + j)] = y[j] - (j == r % l.out ? 1.f : 0.f);
    }
    x = l.y.data();
  }
  for (std::size_t i = layers_.size(); i-- > 0;) {
    Layer& l = layers_[i];
    const float* input = i == 0 ? x_.data() : layers_[i - 1].y.data();
    gemm(true, false, l.out, l.in, batch_, l.dy.data(), input, l.dweight.data());
    if (all) {
      std::ranges::fill(l.dbias, 0.f);
      for (int r = 0; r < batch_; ++r) {
        for (int j = 0; j < l.out; ++j)
          l.dbias[static_cast<std::size_t>(j)] += l.dy[static_cast<std::size_t>(r * l.out + j)];
      }
    }
    if (i == 0) continue;
    Layer& below = layers_[i - 1];
    gemm(false, false, batch_, l.in, l.out, l.dy.data(), l.weight.data(), below.dy.data());
    for (std::size_t j = 0; all && j < below.dy.size(); ++j)
      below.dy[j] = below.y[j] > 0 ? below.dy[j] : 0.f;
  }
}

}  // namespace symbind::bench
