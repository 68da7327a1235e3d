// The checks of README.md, one function each.

#include <cmath>
#include <set>

#include <gtest/gtest.h>
#include <symbind/detail/op_info.h>

#include "base/settings.h"
#include "executor/runner.h"
#include "tests/support/op_run.h"

namespace symbind {
namespace {

std::string text(DType dtype) { return std::string(dtype_name(dtype)); }

/// The looser of the tolerances of the two types that meet in an output.
Tolerance looser(const OpCase& c, DType a, DType b) {
  const Tolerance x = c.tolerance_for(a), y = c.tolerance_for(b);
  return {std::max(x.relative, y.relative), std::max(x.absolute, y.absolute)};
}
Tolerance times(Tolerance t, double factor) { return {t.relative * factor, t.absolute * factor}; }

/// What must come out; empty when the case has no reference.
HostTensors wanted(const OpCase& c, DType dtype, const HostTensors& got) {
  if (c.reference()) return c.reference()(rounded_inputs(c, dtype));
  if (!c.fixed()) return {};
  return {HostTensor(got.at(0).shape, *c.fixed())};
}

void compare(const HostTensors& got, const HostTensors& want, Tolerance tolerance,
             const std::string& what) {
  for (std::size_t o = 0; o < got.size() && o < want.size(); ++o)
    EXPECT_TRUE(near(got[o], want[o], tolerance)) << what << ", output " << o;
}

// ---- 1. Forward ---------------------------------------------------------------------------------

void check_forward(const OpCase& c) {
  for (const DType dtype : c.types()) {
    HostTensors got;
    DType out_type = dtype;
    if (c.is_imperative()) {
      got = run_invoke(c, dtype);
    } else {
      BoundCase bound(c, {.dtype = dtype});
      got = bound.forward();
      out_type = bound.output_dtypes().at(0);
    }
    if (c.expect()) c.expect()(rounded_inputs(c, dtype), got);
    compare(got, wanted(c, dtype, got), looser(c, dtype, out_type), "forward in " + text(dtype));
  }
}

// ---- 2. Every kernel ----------------------------------------------------------------------------

void check_kernels(const OpCase& c) {
  const std::vector<KernelDef>& kernels = definition(c).kernels;
  const KernelDef* last = nullptr;
  for (const KernelDef& kernel : kernels)
    if (kernel.device == DeviceType::kCpu) last = &kernel;
  for (const DType dtype : c.types()) {
    for (const KernelDef& kernel : kernels) {
      if (kernel.device != DeviceType::kCpu) continue;
      for (const Layout layout :
           {Layout::kPlain, Layout::kBlocked8, Layout::kBlocked16, Layout::kChannelsLast}) {
        const std::string what =
            "kernel " + kernel.name + " in " + text(dtype) + ", " + layout_name(layout);
        const KernelRun run = run_kernel(c, kernel, dtype, layout);
        if (&kernel == last && run.refusal != "layout") {
          EXPECT_EQ(run.refusal, "") << what << ": the last kernel must take everything";
        }
        if (!run.refusal.empty()) continue;
        compare(run.outputs, wanted(c, dtype, run.outputs), looser(c, dtype, run.dtype), what);
        if (c.expect()) c.expect()(rounded_inputs(c, dtype), run.outputs);
      }
    }
  }
}

std::set<std::string> kernels_in_plan(Executor& e) {
  std::set<std::string> names;
  for (const PlanStep& step : runner_of(e).plan().steps) {
    if (step.node == nullptr) continue;
    for (const KernelDef& k : step.node->op->kernels)
      if (k.device == DeviceType::kCpu) names.insert(k.name);
  }
  return names;
}

struct Gradients {
  HostTensors outputs, grads;
};
Gradients run_gradients(const OpCase& c, const BindRequest& request) {
  BoundCase bound(c, request);
  Gradients g;
  g.outputs = bound.forward();
  HostTensors heads = bound.random_heads();
  // Those that live on are outputs as well: nothing flows into them from there.
  for (std::size_t o = heads.size(); o-- > 1 && request.inputs == InputsAre::kLiving;)
    if (o >= static_cast<std::size_t>(definition(c).num_visible(parsed_attrs(c).get())))
      heads[o].values.assign(heads[o].size(), 0.0);
  g.grads = bound.backward(heads);
  return g;
}

void check_kernel_gradients(const OpCase& c) {
  if (!has_gradient(c) || main_type(c) != DType::kFloat32) return;
  const std::vector<std::string> req = all_gradients(c);
  // Check 3 confirms the gradients in float64 by differences.
  const bool has_double = !c.inputs().at(0).dtype.has_value();
  const Gradients want =
      run_gradients(c, {.dtype = has_double ? DType::kFloat64 : DType::kFloat32, .grad_req = req});
  BoundCase any(c, {.grad_req = req});
  const std::set<std::string> names = kernels_in_plan(any.executor());
  for (const std::string& only : names) {
    std::string forbidden;
    for (const std::string& other : names)
      if (other != only) forbidden += (forbidden.empty() ? "-" : ",-") + other;
    const settings::override_for_test kernels("SYMBIND_KERNELS", forbidden);
    const Gradients got = run_gradients(c, {.grad_req = req});
    const Tolerance tolerance = times(c.tolerance_for(DType::kFloat32), 4);
    compare(got.outputs, want.outputs, tolerance, "training with kernel " + only);
    for (std::size_t i = 0; i < req.size(); ++i) {
      if (req[i] == "null") continue;
      EXPECT_TRUE(near(got.grads[i], want.grads[i], tolerance))
          << "gradient of input " << i << " with kernel " << only;
    }
  }
}

// ---- 3. Gradients by differences ----------------------------------------------------------------

double dot(const HostTensors& outputs, const HostTensors& heads) {
  double sum = 0;
  for (std::size_t o = 0; o < outputs.size(); ++o)
    for (std::size_t k = 0; k < outputs[o].size(); ++k) sum += outputs[o][k] * heads[o][k];
  return sum;
}

void check_numeric_gradient(const OpCase& c) {
  if (!has_gradient(c) || c.grad_reference() || definition(c).is_loss) return;
  const std::vector<std::string> req = all_gradients(c);
  BoundCase bound(c, {.dtype = DType::kFloat64, .grad_req = req});
  for (const DType t : bound.output_dtypes())
    if (t != DType::kFloat64) return;  // too coarse for differences
  const HostTensors heads = bound.random_heads();
  bound.forward();
  const HostTensors got = bound.backward(heads);
  const std::vector<DType> types = input_dtypes(c, DType::kFloat64);
  for (std::size_t i = 0; i < req.size(); ++i) {
    if (req[i] == "null" || types[i] != DType::kFloat64) continue;
    HostTensors inputs = c.values();
    HostTensor differences(inputs[i].shape), there(inputs[i].shape);
    const std::size_t stride = inputs[i].size() / 48 + 1;  // some of a large input
    for (std::size_t k = 0; k < inputs[i].size(); k += stride) {
      const double x = inputs[i][k], h = 1e-5 * std::max(1.0, std::abs(x));
      inputs[i][k] = x + h;
      bound.load(inputs);
      const double above = dot(bound.forward(), heads);
      inputs[i][k] = x - h;
      bound.load(inputs);
      const double below = dot(bound.forward(), heads);
      inputs[i][k] = x;
      differences[k] = (above - below) / (2 * h);
      there[k] = got[i][k];
    }
    EXPECT_TRUE(near(there, differences, {1e-6, 1e-7}))
        << "gradient of input " << i << " by differences";
  }
}

void check_given_gradient(const OpCase& c) {
  if (!c.grad_reference()) return;
  const std::vector<std::string> req = all_gradients(c);
  for (const DType dtype : c.types()) {
    if (!is_float(dtype)) continue;
    BoundCase bound(c, {.dtype = dtype, .grad_req = req});
    bound.forward();
    HostTensors heads = bound.random_heads();
    for (HostTensor& h : heads) h.values.assign(h.size(), 1.0);
    const HostTensors got = bound.backward(definition(c).is_loss ? HostTensors{} : heads);
    const HostTensors want = c.grad_reference()(rounded_inputs(c, dtype));
    for (std::size_t i = 0; i < req.size(); ++i) {
      if (req[i] == "null") continue;
      EXPECT_TRUE(near(got[i], want.at(i), c.tolerance_for(dtype)))
          << "gradient of input " << i << " in " << text(dtype);
    }
  }
}

// ---- 4. grad_req --------------------------------------------------------------------------------

constexpr Tolerance kSameArithmetic = {2e-6, 1e-7};

void check_grad_req(const OpCase& c) {
  if (!has_gradient(c)) return;
  const DType dtype = main_type(c);
  const std::vector<std::string> req = all_gradients(c);
  const HostTensors write = run_gradients(c, {.dtype = dtype, .grad_req = req}).grads;

  std::vector<std::string> add = req;
  for (std::string& r : add)
    if (r == "write") r = "add";
  BoundCase adding(c, {.dtype = dtype, .grad_req = add});
  const HostTensors before = adding.fill_gradients();
  adding.forward();
  const HostTensors added = adding.backward(adding.random_heads());
  for (std::size_t i = 0; i < req.size(); ++i) {
    if (req[i] == "null") {
      EXPECT_FALSE(added[i].defined() && added[i].size() > 0) << "input " << i << " asked for none";
      continue;
    }
    HostTensor want = before[i];
    for (std::size_t k = 0; k < want.size(); ++k) want[k] += write[i][k];
    const Tolerance tolerance =
        is_float(dtype) && size_of(dtype) < 4 ? tolerance_of(dtype) : kSameArithmetic;
    EXPECT_TRUE(near(added[i], want, tolerance)) << "gradient of input " << i << " with req add";

    std::vector<std::string> alone(req.size(), "null");
    alone[i] = "write";
    const HostTensors one = run_gradients(c, {.dtype = dtype, .grad_req = alone}).grads;
    EXPECT_TRUE(near(one[i], write[i], tolerance)) << "gradient of input " << i << " alone";
  }
}

// ---- 5. In place --------------------------------------------------------------------------------

void check_in_place(const OpCase& c) {
  if (c.is_imperative()) return;
  const DType dtype = main_type(c);
  const bool gradients = has_gradient(c);
  const auto req = gradients ? all_gradients(c) : std::vector<std::string>{};
  const auto run = [&](InputsAre inputs) {
    const BindRequest request{.dtype = dtype, .grad_req = req, .inputs = inputs};
    if (gradients) return run_gradients(c, request);
    return Gradients{.outputs = BoundCase(c, request).forward(), .grads = {}};
  };
  const Gradients want = run(InputsAre::kBound);
  for (const InputsAre inputs : {InputsAre::kDying, InputsAre::kLiving}) {
    const std::string what =
        inputs == InputsAre::kDying ? "inputs that die" : "inputs that live on";
    const Gradients got = run(inputs);
    compare({got.outputs.begin(),
             got.outputs.begin() + static_cast<std::ptrdiff_t>(want.outputs.size())},
            want.outputs, kSameArithmetic, what);
    for (std::size_t i = 0; i < req.size(); ++i) {
      if (req[i] == "null") continue;
      EXPECT_TRUE(near(got.grads[i], want.grads[i], kSameArithmetic))
          << what << ", gradient of input " << i;
    }
    // The intermediates that were read are unchanged.
    const HostTensors rounded = rounded_inputs(c, dtype);
    const std::vector<std::size_t> inside = free_inputs(c);
    for (std::size_t o = want.outputs.size(), k = 0; o < got.outputs.size(); ++o, ++k) {
      EXPECT_TRUE(near(got.outputs[o], rounded[inside[k]], {}))
          << "input " << inside[k] << " was overwritten";
    }
  }
}

// ---- 7, 8. JSON, invoke -------------------------------------------------------------------------

void check_invoke(const OpCase& c) {
  if (c.is_imperative()) return;
  const DType dtype = main_type(c);
  BoundCase bound(c, {.dtype = dtype});
  compare(run_invoke(c, dtype), bound.forward(), kSameArithmetic, "invoke against the graph");
}

void check_json(const OpCase& c) {
  if (c.is_imperative() || !is_public(definition(c))) return;
  const Symbol symbol = case_symbol(c);
  const std::string json = symbol.tojson();
  const Symbol back = Symbol::load_json(json);
  EXPECT_EQ(back.tojson(), json);
  EXPECT_EQ(back.list_arguments(), symbol.list_arguments());
  EXPECT_EQ(back.list_auxiliary_states(), symbol.list_auxiliary_states());
  EXPECT_EQ(back.list_outputs(), symbol.list_outputs());
  const Node &a = *symbol.heads()[0].node, &b = *back.heads()[0].node;
  EXPECT_EQ(a.op, b.op);
  EXPECT_EQ(a.name, b.name);
  const auto fields = [](const Node& n) {
    return attrs_to_dict(n.op->describe(const_cast<void*>(n.parsed.get())));
  };
  EXPECT_EQ(fields(a), fields(b));
}

// ---- Errors -------------------------------------------------------------------------------------

std::string error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "nothing was thrown";
}

void check_raises(const OpCase& c) {
  const std::string in_graph = error_of([&] {
    BoundCase bound(c, {.dtype = c.types().at(0)});
    bound.forward();
  });
  if (!c.is_imperative()) {
    EXPECT_NE(in_graph.find(*c.error()), std::string::npos) << "bound: " << in_graph;
  }
  const std::string at_once = error_of([&] { run_invoke(c, c.types().at(0)); });
  EXPECT_NE(at_once.find(*c.error()), std::string::npos) << "invoked: " << at_once;
}

}  // namespace

void check_op_shapes(const OpCase& c);   // op_shapes.cpp
void check_op_unread(const OpCase& c);   // op_memory.cpp
void check_op_written(const OpCase& c);  // op_memory.cpp
void check_op_empty(const OpCase& c);    // op_memory.cpp

void check_op_case(const OpCase& c) {
  if (c.error()) return check_raises(c);
  const bool has_reference = c.reference() || c.fixed() || c.expect() || c.is_recorded();
  EXPECT_TRUE(has_reference) << "the case says neither ref, nor recorded, nor property, nor raises";
  const OpDef& op = definition(c);
  if (has_gradient(c) && !op.is_loss) {
    EXPECT_TRUE(op.gradient != nullptr) << "the operator has no gradient: say no_grad()";
  }
  check_forward(c);
  check_kernels(c);
  check_op_shapes(c);
  check_numeric_gradient(c);
  check_given_gradient(c);
  check_grad_req(c);
  check_kernel_gradients(c);
  check_in_place(c);
  check_invoke(c);
  check_json(c);
  check_op_unread(c);
  check_op_written(c);
  check_op_empty(c);
}

}  // namespace symbind
