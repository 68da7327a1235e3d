// Pooling: recorded, "same" and channels last by hand, and what is refused.

#include <algorithm>
#include <cmath>
#include <limits>
#include <ostream>

#include <gtest/gtest.h>

#include <symbind/executor.h>

#include "base/settings.h"
#include "tests/support/op_case.h"

namespace symbind {
namespace {

OP_CASES(Pooling) {
  c.recorded([](OpCase& k) {
    if (k.name().find("ties") != std::string::npos) k.no_grad();  // kinks
  });
  c.add("same")
      .attr("kernel", "(3,)")
      .attr("stride", "(2,)")
      .attr("pooling_convention", "same")
      .in({1, 1, 5}, {1, 2, 3, 4, 5})
      .ref({2, 4, 5});
  c.add("channels last")
      .attr("kernel", "(2,)")
      .attr("layout", "NWC")
      .in({1, 3, 2}, {1, 6, 2, 5, 3, 4})
      .ref({2, 6, 3, 5});
  for (const int p : {1, 3}) {  // an odd p keeps signs
    c.add("lp of negative numbers, p " + std::to_string(p))
        .attr("kernel", "(2,)")
        .attr("stride", "(2,)")
        .attr("pool_type", "lp")
        .attr("p_value", p)
        .in({1, 1, 4}, {-2, 1, 3, -1})
        .ref(p == 1 ? std::vector<double>{-1, 2}
                    : std::vector<double>{-std::cbrt(7), std::cbrt(26)});
  }
  c.add("no kernel").in({1, 1, 4, 4}).raises("kernel is required");
  c.add("kernel of another rank").attr("kernel", "(2,)").in({1, 1, 4, 4}).raises("give (2, 2)");
  c.add("kernel (0, 0)").attr("kernel", "(0, 0)").in({1, 1, 4, 4}).raises("positive");
  c.add("lp without p")
      .attr("kernel", "(2, 2)")
      .attr("pool_type", "lp")
      .in({1, 1, 4, 4})
      .raises("p_value");
}

/// What max pooling gives and passes back for ones, computed by the kernels not in `forbidden`.
struct Pooled {
  std::vector<double> output, predicted, gradient;
  bool operator==(const Pooled&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Pooled& p) {
  for (const auto* list : {&p.output, &p.predicted, &p.gradient}) {
    out << "| ";
    for (const double v : *list) out << v << ' ';
  }
  return out;
}

Pooled pooled(const NDArray& x, const AttrDict& attrs, const char* forbidden) {
  const settings::override_for_test kernels("SYMBIND_KERNELS", forbidden);
  const auto numbers = [](const NDArray& a) {
    return a.astype(DType::kFloat64).to_vector<double>();
  };
  const Symbol net = make_symbol("Pooling", "p", std::vector{Variable("x")}, attrs);
  NDArray dx = NDArray::zeros(x.shape()).astype(x.dtype());
  Executor e = net.bind(cpu(), NDArrayMap{{"x", x}}, {.args_grad = NDArrayMap{{"x", dx}}});
  Pooled p{{}, numbers(e.forward(false).at(0)), {}};
  const NDArray y = e.forward(true).at(0);
  p.output = numbers(y);
  e.backward({NDArray::ones(y.shape()).astype(y.dtype())});
  p.gradient = numbers(dx);
  return p;
}

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

// MXNet 1.9.1: NaN and −∞ never win; a window of nothing else gives the lowest number, and its
// gradient goes to the window's first place unless that is padding.
TEST(Pooling, nan_is_never_a_maximum_whichever_kernel_computes) {
  const double low = std::numeric_limits<float>::lowest();
  struct Row {
    Shape shape;
    std::vector<double> x;
    AttrDict attrs;
    std::vector<double> y, dx;
  };
  const std::vector<Row> rows = {
      {{1, 1, 6},
       {kNan, kNan, -2, 5, 1, -3},
       {{"kernel", "(2,)"}},
       {low, -2, 5, 5, 1},
       {1, 0, 1, 2, 1, 0}},
      {{1, 1, 6},
       {kNan, 2, -2, kNan, kNan, kNan},
       {{"kernel", "(2,)"}, {"pad", "(1,)"}},
       {low, 2, 2, -2, low, low, low},
       {0, 2, 1, 1, 1, 1}},
      {{1, 1, 2, 3},
       {kNan, kNan, 1, -kInf, kNan, 2},
       {{"kernel", "(2, 2)"}},
       {low, 2},
       {1, 0, 0, 0, 0, 1}},
      {{1, 1, 2, 2}, {kNan, 3, 1, kInf}, {{"global_pool", "True"}}, {kInf}, {0, 0, 0, 1}},
      {{1, 1, 1, 2, 2}, {kNan, kNan, kNan, kNan}, {{"kernel", "(1, 2, 2)"}}, {low}, {1, 0, 0, 0}}};
  for (const Row& row : rows) {
    SCOPED_TRACE(row.shape.str());
    Pooled want{row.y, row.y, row.dx};
    for (const int channels : {1, 16}) {  // oneDNN stores 16 channels in blocks
      Shape shape = row.shape;
      shape[1] = channels;
      std::vector<double> x;
      Pooled all;
      for (int c = 0; c < channels; ++c) {
        x.insert(x.end(), row.x.begin(), row.x.end());
        all.output.insert(all.output.end(), row.y.begin(), row.y.end());
        all.gradient.insert(all.gradient.end(), row.dx.begin(), row.dx.end());
      }
      all.predicted = all.output;
      const NDArray data = NDArray::from_vector(x, shape).astype(DType::kFloat32);
      EXPECT_EQ(pooled(data, row.attrs, ""), all) << channels << " channels";
      EXPECT_EQ(pooled(data, row.attrs, "-native"), all) << channels << " channels, oneDNN";
      EXPECT_EQ(pooled(data, row.attrs, "-onednn,-native"), all)
          << channels << " channels, reference";
    }
    for (const auto& [type, lowest] :
         {std::pair{DType::kFloat64, std::numeric_limits<double>::lowest()},
          {DType::kFloat16, -65504.0}}) {
      Pooled wide = want;
      for (auto* list : {&wide.output, &wide.predicted}) std::ranges::replace(*list, low, lowest);
      EXPECT_EQ(pooled(NDArray::from_vector(row.x, row.shape).astype(type), row.attrs, ""), wide)
          << dtype_name(type);
    }
  }
  const NDArray last =
      NDArray::from_vector(std::vector<double>{kNan, kNan, 1, kNan, 2, -1}, {1, 3, 2})
          .astype(DType::kFloat32);
  EXPECT_EQ(pooled(last, {{"kernel", "(2,)"}, {"layout", "NWC"}}, ""),
            (Pooled{{1, low, 2, -1}, {1, low, 2, -1}, {0, 1, 1, 0, 1, 1}}));
}

// Positions are exact, so all kernels have equal bits. Values repeat: the first maximum counts.
TEST(Pooling, kernels_agree_on_odd_channels_for_every_stride_and_pad) {
  std::uint32_t state = 1;
  for (const std::int64_t kernel : {1, 2, 3, 5})
    for (const std::int64_t stride : {1, 2, 3, 7})
      for (std::int64_t pad = 0; pad < kernel; ++pad)
        for (const char* convention : {"valid", "full"})
          for (const std::int64_t width : {7, 40}) {
            const Shape shape{2, 3, 9, width};
            std::vector<float> x(static_cast<std::size_t>(shape.size()));
            for (float& v : x)
              v = static_cast<float>((state = state * 1664525u + 1013904223u) >> 28);
            const std::string k = std::to_string(kernel), t = std::to_string(stride),
                              d = std::to_string(pad);
            const AttrDict attrs = {{"kernel", "(" + k + ", " + k + ")"},
                                    {"stride", "(" + t + ", " + t + ")"},
                                    {"pad", "(" + d + ", " + d + ")"},
                                    {"pooling_convention", convention}};
            const NDArray data = NDArray::from_vector(x, shape);
            EXPECT_EQ(pooled(data, attrs, "-onednn"), pooled(data, attrs, "-onednn,-native"))
                << k << " stride " << t << " pad " << d << ' ' << convention << ' ' << width;
          }
}

// MXNet's value there is the lowest finite one: infinity would make a softmax of it NaN.
TEST(Pooling, a_window_of_padding_alone_is_finite) {
  const AttrDict attrs = {
      {"kernel", "(3,)"}, {"stride", "(2,)"}, {"pad", "(2,)"}, {"pooling_convention", "full"}};
  const auto y = invoke("Pooling", {NDArray::ones({1, 1, 2})}, attrs)[0].to_vector<float>();
  EXPECT_EQ(y, (std::vector<float>{1, 1, std::numeric_limits<float>::lowest()}));
}

}  // namespace
}  // namespace symbind
