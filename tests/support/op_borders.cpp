// Check 9 of README.md: the loops of a case split into shares, and the case grown across the
// borders of blocks.

#include <optional>
#include <set>

#include <gtest/gtest.h>

#include "base/settings.h"
#include "tests/support/op_growth.h"
#include "tests/support/shares.h"

namespace symbind {
namespace {

constexpr Tolerance kSameArithmetic = {2e-6, 1e-7};
constexpr Tolerance kLongSums = {1e-4, 1e-5};
constexpr std::int64_t kMostElements = 12'000;  ///< of all inputs, and of all outputs

Tolerance looser(Tolerance a, Tolerance b) {
  return {std::max(a.relative, b.relative), std::max(a.absolute, b.absolute)};
}

// ---- Comparing ----------------------------------------------------------------------------------

/// Takes out of `want` what is not so.
void keep_what_holds(const Numbers& got, Numbers& want, Tolerance tolerance) {
  const auto keep = [&](const HostTensors& g, HostTensors& w, Tolerance t) {
    for (std::size_t i = 0; i < w.size(); ++i)
      if (!is_known(w, i) || i >= g.size() || g[i].shape != w[i].shape || !near(g[i], w[i], t))
        w[i] = HostTensor{};
  };
  keep(got.outputs, want.outputs, tolerance);
  keep(got.grads, want.grads, looser(tolerance, {2e-5, 1e-6}));
}

bool knows_something(const HostTensors& t) {
  for (std::size_t i = 0; i < t.size(); ++i)
    if (is_known(t, i)) return true;
  return false;
}

void compare(const HostTensors& got, const HostTensors& want, Tolerance tolerance,
             const std::string& what) {
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (!is_known(want, i)) continue;
    EXPECT_TRUE(near(got[i], want[i], tolerance)) << what << " " << i;
  }
}

std::set<std::string> cpu_kernels(const OpCase& c) {
  std::set<std::string> names;
  for (const KernelDef& k : definition(c).kernels)
    if (k.device == DeviceType::kCpu) names.insert(k.name);
  return names;
}

/// One size: whole, in shares, and with every kernel alone, in shares.
void check_size(const Grown& g, DType dtype, const std::vector<int>& shares_of,
                const std::string& what) {
  const Tolerance sums = looser(g.tolerance, kLongSums);
  const Numbers whole = run(g.c, dtype, g.heads);
  compare(whole.outputs, g.want.outputs, g.tolerance, what + ", output");
  compare(whole.grads, g.want.grads, sums, what + ", gradient of input");
  for (const int threads : shares_of) {
    const Shares shares(threads);
    const Numbers got = run(g.c, dtype, g.heads);
    const std::string in_shares = what + " in " + std::to_string(threads) + " shares";
    compare(got.outputs, whole.outputs, sums, in_shares + ", output");
    compare(got.grads, whole.grads, sums, in_shares + ", gradient of input");
  }
  const std::set<std::string> kernels = cpu_kernels(g.c);
  if (g.c.is_imperative() || kernels.size() < 2) return;
  for (const std::string& only : kernels) {
    std::string forbidden;
    for (const std::string& other : kernels)
      if (other != only) forbidden += (forbidden.empty() ? "-" : ",-") + other;
    const settings::override_for_test setting("SYMBIND_KERNELS", forbidden);
    std::optional<Shares> shares;
    if (!shares_of.empty()) shares.emplace(shares_of.back());
    const Numbers got = run(g.c, dtype, g.heads);
    compare(got.outputs, whole.outputs, sums, what + " with kernel " + only + ", output");
    compare(got.grads, whole.grads, sums, what + " with kernel " + only + ", gradient of input");
  }
}

bool is_half(DType dtype) { return is_float(dtype) && size_of(dtype) == 2; }

/// What is known of a growth, by a trial at four times the size.
struct Trial {
  Growth growth;
  bool by_pieces = false, vary = true;
  std::vector<bool> outputs = {}, grads = {};
};

std::vector<bool> known(const HostTensors& t) {
  std::vector<bool> k;
  for (std::size_t i = 0; i < t.size(); ++i) k.push_back(is_known(t, i));
  return k;
}
void forget(HostTensors& t, const std::vector<bool>& known) {
  for (std::size_t i = 0; i < t.size(); ++i)
    if (i >= known.size() || !known[i]) t[i] = HostTensor{};
}

std::optional<Trial> try_growth(const OpCase& c, Growth g, DType dtype) {
  const std::int64_t size = extent_of(c, g);
  for (const bool vary : {true, false}) {
    for (const std::int64_t extra : {std::int64_t{1}, std::int64_t{0}}) {
      if (size == 1 && extra == 1) continue;
      g.step = extra == 1 || size == 1 ? 1 : size;
      if (extra == 1 && !shapes_at(c, g, 1)) continue;
      try {
        Grown grown = from_pieces(c, g, 4 * size + extra, dtype, vary);
        keep_what_holds(run(grown.c, dtype, grown.heads), grown.want, kSameArithmetic);
        if (knows_something(grown.want.outputs))
          return Trial{.growth = g,
                       .by_pieces = true,
                       .vary = vary,
                       .outputs = known(grown.want.outputs),
                       .grads = known(grown.want.grads)};
      } catch (const std::exception&) {  // the operator has its own idea of such a size
      }
    }
  }
  for (const std::int64_t extra : {std::int64_t{1}, std::int64_t{0}}) {
    g.step = extra == 1 || size == 1 ? 1 : size;
    if (extra == 1 && !shapes_at(c, g, 1)) continue;
    try {
      Grown grown = from_reference(c, g, 4 * size + extra, dtype);
      if (!grown.confirmed) grown.want.grads.clear();
      keep_what_holds(run(grown.c, dtype, grown.heads), grown.want, grown.tolerance);
      return Trial{
          .growth = g, .outputs = known(grown.want.outputs), .grads = known(grown.want.grads)};
    } catch (const std::exception&) {
    }
  }
  return std::nullopt;
}

/// Whether inputs and outputs of these sizes are quick to compute.
bool is_small(const OpCase& c, std::vector<Shape> inputs) {
  std::vector<Shape> outputs;
  if (!infer(c, inputs, &outputs)) return false;
  std::int64_t n = 0, m = 0;
  for (const Shape& s : inputs) n += s.size();
  for (const Shape& s : outputs) m += s.known() ? s.size() : 0;
  return n <= kMostElements && m <= kMostElements;
}

/// The longest of `extents` that is not too long, or all of them.
std::set<std::int64_t> extents_of(const OpCase& c, const Growth& g, bool all) {
  std::set<std::int64_t> extents;
  for (const std::int64_t wanted : {1537, 769, 257, 256, 255, 65, 33, 17}) {
    const std::int64_t extent = (wanted + g.step - 1) / g.step * g.step;
    const auto shapes = shapes_at(c, g, extent);
    if (!shapes || extent <= extent_of(c, g) || !is_small(c, *shapes)) continue;
    extents.insert(extent);
    if (!all || wanted == 255) break;
  }
  return extents;
}

void check_growth(const OpCase& c, const Trial& trial, bool all, DType dtype) {
  const Growth& g = trial.growth;
  const std::set<std::int64_t> extents = extents_of(c, g, all);
  for (const std::int64_t extent : extents) {
    std::string what = std::string(dtype_name(dtype)) + ", extent " + std::to_string(extent) +
                       " of axis " + std::to_string(g.axes[g.lead]) + " of input " +
                       std::to_string(g.lead);
    try {
      Grown grown = trial.by_pieces ? from_pieces(c, g, extent, dtype, trial.vary)
                                    : from_reference(c, g, extent, dtype);
      if (trial.by_pieces) {
        grown.tolerance = looser(c.tolerance_for(dtype), kSameArithmetic);
        if (!trial.vary) grown.tolerance = looser(grown.tolerance, kLongSums);
      }
      forget(grown.want.outputs, trial.outputs);
      forget(grown.want.grads, trial.grads);
      if (!trial.by_pieces && knows_something(grown.want.grads)) {
        EXPECT_TRUE(grown.confirmed) << what << ": a difference says otherwise than the gradients";
      }
      for (std::size_t i = 0; i < grown.want.grads.size(); ++i)  // long sums in 16 bits
        if (is_half(dtype) && g.axes[i] < 0) grown.want.grads[i] = HostTensor{};
      const bool last = extent == *extents.rbegin();
      check_size(grown, dtype, last ? std::vector{3} : std::vector<int>{}, what);
    } catch (const std::exception& e) {
      ADD_FAILURE() << what << ": " << e.what();
    }
  }
}

/// All inputs in one row, where the operator goes element by element.
std::optional<OpCase> in_a_row(const OpCase& c) {
  HostTensors in = c.values();
  if (in[0].shape.rank() < 2) return std::nullopt;
  for (HostTensor& t : in) {
    if (t.shape != c.inputs()[0].value.shape) return std::nullopt;
  }
  for (HostTensor& t : in) t.shape = Shape{t.shape.size()};
  return over(c, in);
}

bool has_half(const OpCase& c) {
  const std::vector<DType> types = c.types();
  return std::find(types.begin(), types.end(), DType::kFloat16) != types.end();
}

void check_shares(const OpCase& c, DType dtype) {
  const HostTensors heads = heads_of(c, dtype);
  check_size({.c = c, .heads = heads, .want = {}, .tolerance = kSameArithmetic}, dtype, {2, 3},
             "as it is");
}

/// The differences of check 3 are of some elements of a large input; this one is of all.
void check_whole_gradient(const OpCase& c) {
  if (c.is_imperative() || c.grad_reference() || !has_gradient(c)) return;
  const std::vector<DType> types = c.types();
  if (std::find(types.begin(), types.end(), DType::kFloat64) == types.end()) return;
  bool large = false;
  for (const OpCase::Input& i : c.inputs()) large |= i.value.size() > 48;
  if (!large) return;
  Grown whole{.c = c, .heads = heads_of(c, DType::kFloat64), .want = {}, .tolerance = {}};
  add_gradients(whole);
  if (!whole.want.grads.empty()) {
    EXPECT_TRUE(whole.confirmed)
        << "a difference along all inputs says otherwise than the gradients";
  }
}

}  // namespace

bool keeps_its_size(const std::string& op) {
  static const std::set<std::string> kOperators = {
      "Custom",            // the tests' own code checks shapes
      "_cvimresize",       // OpenCV rounds groups of 8 in another way
      "_contrib_box_nms",  // ties between equal boxes are broken arbitrarily
  };
  return kOperators.contains(op);
}

bool check_op_borders(const OpCase& c) {
  const DType dtype = main_type(c);
  check_shares(c, dtype);
  if (c.inputs().empty() || keeps_its_size(c.op())) return false;
  check_whole_gradient(c);
  if (c.op() == "CTCLoss" && c.name() == "all paths") return false;  // a power of the steps
  if (c.op() == "_random_pdf_dirichlet" && c.name() == "one vector") return false;  // beyond 1e300
  const auto grow = [&](const OpCase& grown, bool all) {
    bool any = false;
    std::vector<Growth> ways = growths(grown);
    // Vendors' kernels are many and slow: they have the batch and one more.
    const bool slow = cpu_kernels(c).size() > 1 && grown.inputs()[0].value.shape.rank() > 2;
    if (slow && ways.size() > 2) ways.resize(2);
    for (const Growth& g : ways) {
      const std::optional<Trial> trial = try_growth(grown, g, dtype);
      if (!trial) continue;
      any = true;
      check_growth(grown, *trial, all, dtype);
      if (has_half(c) && dtype == DType::kFloat32 && trial->by_pieces && trial->vary)
        check_growth(grown, *trial, false, DType::kFloat16);
    }
    return any;
  };
  if (const std::optional<OpCase> row = in_a_row(c); row && grow(*row, true)) return true;
  return grow(c, c.inputs()[0].value.shape.rank() == 1);
}

}  // namespace symbind
