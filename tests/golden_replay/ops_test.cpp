// Every recorded operator case, run again: outputs, gradients, states, overwritten inputs.

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include <symbind/detail/op_info.h>
#include <symbind/executor.h>

#include "tests/support/golden.h"

namespace symbind {
namespace {

using golden::Case;
using golden::Run;

// Every run of a case was bound alike; only those with a backward say which gradients there were.
const golden::Tensors& bound_gradients(const Case& c) {
  for (const Run& run : c.runs)
    if (run.has_backward) return run.grads;
  return c.runs.front().grads;
}

void replay_run(const Case& c, const Run& run) {
  std::vector<Symbol> inputs;
  NDArrayMap args, aux, grads;
  std::map<std::string, std::string> req;
  for (const golden::Tensor& t : c.inputs) {
    inputs.push_back(Variable(t.name));
    args[t.name] = t.array();
    req[t.name] = "null";
  }
  for (const golden::Tensor& t : c.aux) {
    inputs.push_back(Variable(t.name));
    aux[t.name] = t.array();
  }
  for (const golden::Tensor& g : bound_gradients(c)) {
    req[g.name] = g.req;
    // Shows elements that "write" does not write.
    grads[g.name] =
        g.before ? g.before->array(g.dtype) : NDArray::full(g.shape, 77, cpu(), g.dtype);
  }
  Executor e = make_symbol(c.op, "node", inputs, c.attrs)
                   .bind(cpu(), args, {.args_grad = grads, .grad_req = req, .aux_states = aux});
  const std::vector<NDArray> outputs = e.forward(run.is_train);
  ASSERT_EQ(outputs.size(), run.outputs.size());
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    const golden::Tensor& want = run.outputs[o];
    EXPECT_EQ(dtype_name(outputs[o].dtype()), dtype_name(want.dtype)) << "output " << o;
    EXPECT_TRUE(
        golden::matches(HostTensor::from(outputs[o]), want, golden::recorded_tolerance(want.dtype)))
        << "output " << o;
  }
  if (run.has_backward) {
    std::vector<NDArray> heads;
    for (const golden::Tensor& h : run.heads) heads.push_back(h.array());
    e.backward(heads);
  }
  for (const golden::Tensor& want : run.grads) {
    EXPECT_TRUE(golden::matches(HostTensor::from(grads.at(want.name)), want,
                                golden::recorded_tolerance(want.dtype)))
        << "gradient of " << want.name;
  }
  for (const golden::Tensor& want : run.aux) {
    EXPECT_TRUE(golden::matches(HostTensor::from(aux.at(want.name)), want,
                                golden::recorded_tolerance(want.dtype)))
        << "state " << want.name;
  }
  for (const golden::Tensor& want : run.inputs_after) {
    EXPECT_TRUE(golden::matches(HostTensor::from(args.at(want.name)), want,
                                golden::recorded_tolerance(want.dtype)))
        << "input " << want.name << " afterwards";
  }
}

// The outputs go into the inputs that MXNet was given as out=.
void replay_imperative(const Case& c) {
  std::vector<NDArray> inputs, outs;
  for (const golden::Tensor& t : c.inputs) {
    inputs.push_back(t.array());
    if (std::ranges::find(c.outs, t.name) != c.outs.end()) outs.push_back(inputs.back());
  }
  for (int i = 0; i < c.repeat; ++i) invoke(c.op, inputs, c.attrs, outs);
  for (const golden::Tensor& want : c.after) {
    for (std::size_t i = 0; i < c.inputs.size(); ++i) {
      if (c.inputs[i].name != want.name) continue;
      EXPECT_TRUE(golden::matches(HostTensor::from(inputs[i]), want,
                                  golden::recorded_tolerance(want.dtype)))
          << want.name << " after " << c.repeat << " calls";
    }
  }
}

// Recorded, and not followed.
bool is_fault_of_mxnet(const Case& c) {
  static const std::set<std::string> faults = {
      // One gradient's memory serves both: the second has what was added to the first.
      "elemwise_add: add",
      // 4097 * 4097 computed in float.
      "square: int32",
      // 255.5 and 127.5 levels where 255 and 127 are documented.
      "dequantize by default",
      "dequantize int8",
  };
  return faults.contains(c.name);
}

void replay(const Case& c) {
  SCOPED_TRACE("recorded case '" + c.name + "' of " + c.op);
  try {
    for (const Run& run : c.runs) {
      SCOPED_TRACE(run.is_train ? "is_train" : "not is_train");
      replay_run(c, run);
    }
    if (c.repeat > 0) replay_imperative(c);
  } catch (const std::exception& e) {
    ADD_FAILURE() << "case '" << c.name << "' of " << c.op << ": " << e.what();
  }
}

class ReplayTest : public ::testing::Test {
 public:
  explicit ReplayTest(std::string path) : path_(std::move(path)) {}
  void TestBody() override {
    int replayed = 0;
    for (const Case& c : golden::read_cases(path_)) {
      // Recordings run ahead of the operators that exist.
      if (OpRegistry::global().find(c.op) == nullptr || is_fault_of_mxnet(c)) continue;
      replay(c);
      ++replayed;
    }
    RecordProperty("cases", replayed);
    std::cout << replayed << " recorded cases replayed\n";
  }

 private:
  std::string path_;
};

[[maybe_unused]] const bool kRegistered = [] {
  for (const std::string& path : golden::operator_files()) {
    const std::string name = std::filesystem::path(path).stem().string();
    ::testing::RegisterTest("GoldenOps", name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                            [path]() -> ::testing::Test* { return new ReplayTest(path); });
  }
  return true;
}();

// Operators that draw numbers cannot be recorded; internal ones are not MXNet's; MXNet cannot bind
// _copyto and _set_value; what Custom computes users write; an operator without kernels stands for
// a graph, which tests/python/test_loops.py compares; a graph cannot hold one whose values decide
// its shape.
bool needs_recording(const OpDef& op) {
  static const std::set<std::string> without = {"_copyto", "_grad_add", "_set_value"};
  return is_public(op) && !op.is_random && !op.runs_user_code && !op.kernels.empty() &&
         !op.shape_from_values && !without.contains(op.name);
}

struct Recorded {
  int cases = 0;
  std::set<AttrDict> sets;  ///< of attributes
  bool alone = false;       ///< has its own file, not only rows of a family's file
};

std::map<std::string, Recorded> count_recordings() {
  std::map<std::string, Recorded> counts;
  for (const std::string& path : golden::operator_files()) {
    const bool family = std::filesystem::path(path).stem() == "families";
    for (const Case& c : golden::read_cases(path)) {
      const OpDef* op = OpRegistry::global().find(c.op);
      if (op == nullptr) continue;
      Recorded& r = counts[op->name];
      ++r.cases;
      r.sets.insert(c.attrs);
      r.alone |= !family;
    }
  }
  return counts;
}

/// How many distinct sets of attributes exist, at most 4: one more than the values if all values
/// are named, since an attribute may be omitted. 0: there are no attributes.
std::size_t possible_sets(const OpDef& op) {
  const std::shared_ptr<void> attrs = op.make_attrs();
  std::size_t sets = 1;
  bool any = false;
  for (const AttrField& field : op.describe(attrs.get())) {
    if (field.name == op.variadic_key) continue;
    any = true;
    const std::size_t values = std::holds_alternative<bool*>(field.slot) ? 2 : field.allowed.size();
    sets *= values == 0 ? 4 : values + (field.is_required ? 0 : 1);
  }
  return any ? std::min<std::size_t>(sets, 4) : 0;
}

// At least four sets of attributes, or all there are; four cases where there are none; of a
// family's member two.
TEST(GoldenOps, every_operator_is_recorded) {
  std::map<std::string, Recorded> counts = count_recordings();
  std::string missing;
  int total = 0;
  for (const std::string& name : OpRegistry::global().names()) {
    const OpDef& op = *OpRegistry::global().find(name);
    if (!needs_recording(op)) continue;
    const Recorded& r = counts[name];
    total += r.cases;
    const bool family = r.cases > 0 && !r.alone;
    const std::size_t possible = possible_sets(op);
    const int have = !family && possible > 0 ? static_cast<int>(r.sets.size()) : r.cases;
    const int need = family ? 2 : possible > 0 ? static_cast<int>(possible) : 4;
    if (have < need) missing += " " + name + " (" + std::to_string(have) + ")";
  }
  std::cout << total << " recorded cases of operators that exist\n";
  EXPECT_EQ(missing, "") << "operators with fewer than 4 recorded sets of attributes";
}

}  // namespace
}  // namespace symbind
