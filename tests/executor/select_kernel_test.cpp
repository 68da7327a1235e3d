// One choice of kernels for plans, calls on arrays and updates: the same settings, the same log.

#include "graph/select_kernel.h"

#include <gtest/gtest.h>
#include <symbind/ops.h>
#include <symbind/symbind.h>

#include "base/settings.h"
#include "support/capture_log.h"

namespace symbind {
namespace {

struct NoneAttrs {
  void describe(AttrVisitor&) {}
};
void infer_same(const NoneAttrs&, Inference& io) {
  io.all_same_shape();
  io.all_same_dtype();
}
Prepared times(double factor) {
  return [factor](const Args& args) {
    *args.out<float>(0) = static_cast<float>(factor) * *args.in<float>(0);
  };
}

/// An operator of one number: its kernel "fast" doubles, its reference multiplies by 3.
void add_operator() {
  static const bool added = [] {
    OpRegistry::global()
        .add<NoneAttrs>("_test_two_kernels")
        .infer(infer_same)
        .kernel(
            DeviceType::kCpu, "picky",
            [](const NoneAttrs&, const KernelRequest&) { return refuse("never today"); },
            [](const NoneAttrs&, const KernelRequest&, const Offer&) { return times(5); })
        .kernel(DeviceType::kCpu, "fast", nullptr,
                [](const NoneAttrs&, const KernelRequest&, const Offer&) { return times(2); })
        .reference([](const NoneAttrs&, const KernelRequest&) { return times(3); });
    return true;
  }();
  (void)added;
}

float in_a_graph() {
  const Symbol net =
      make_symbol("_test_two_kernels", "t", std::vector<Symbol>{Variable("x")}, AttrDict{});
  const NDArrayMap args{{"x", NDArray::full({1}, 1)}};
  return net.bind(cpu(), args).forward().front().to_vector<float>().front();
}
float in_a_call() {
  return invoke("_test_two_kernels", {NDArray::full({1}, 1)}).front().to_vector<float>().front();
}
float in_an_update() {
  const NDArrayMap args{{"x", NDArray::full({1}, 1)}};
  Executor executor = (Variable("x") * 1.0).bind(cpu(), args, {.grad_req = "null"});
  const NDArray out = NDArray::zeros({1});
  executor.add_update("_test_two_kernels", {args.at("x")}, out, {});
  executor.step();
  return out.to_vector<float>().front();
}

TEST(SelectKernel, a_forbidden_kernel_is_forbidden_everywhere) {
  add_operator();
  for (const auto& run : {in_a_graph, in_a_call, in_an_update}) {
    EXPECT_EQ(run(), 2);
    const settings::override_for_test forbidden("SYMBIND_KERNELS", "-fast");
    EXPECT_EQ(run(), 3);
    const settings::override_for_test all("SYMBIND_KERNELS", "-fast,-reference");
    EXPECT_EQ(run(), 3) << "the last kernel cannot be forbidden";
  }
}

TEST(SelectKernel, every_choice_is_logged_with_the_refusals) {
  add_operator();
  const settings::override_for_test log("SYMBIND_LOG", "dispatch");
  for (const auto& run : {in_a_graph, in_a_call, in_an_update}) {
    // Calls prepared before are not chosen again: another setting, another choice.
    const settings::override_for_test exact("SYMBIND_KERNELS", run == in_a_call    ? "-a"
                                                               : run == in_a_graph ? "-b"
                                                                                   : "-c");
    const CaptureLog captured;
    run();
    int lines = 0;
    for (const std::string& line : captured.lines()) {
      if (line.find("_test_two_kernels") == std::string::npos) continue;
      ++lines;
      EXPECT_NE(line.find("dispatch _test_two_kernels"), std::string::npos) << line;
      EXPECT_NE(line.find(": fast (picky: never today)"), std::string::npos) << line;
    }
    EXPECT_EQ(lines, 1);
  }
}

TEST(SelectKernel, no_kernel_says_why_for_each) {
  add_operator();
  const OpDef& op = OpRegistry::global().get("_test_two_kernels");
  const NoneAttrs attrs;
  KernelRequest request;
  request.in = request.out = {{.shape = {1}}};
  try {
    select_kernel(op, &attrs, request, "title", {.only = "picky"});
    FAIL() << "no error";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::kNotImplemented);
    EXPECT_STREQ(e.what(), "title has no kernel for cpu: picky: never today");
  }
}

}  // namespace
}  // namespace symbind
