#include "tests/support/op_case.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include <gtest/gtest.h>

#include "tests/support/capture_log.h"
#include "tests/support/formula.h"
#include "tests/support/golden.h"
#include "tests/support/op_run.h"

namespace symbind {

OpCase& OpCase::attr(const std::string& key, const std::string& value) {
  attrs_[key] = value;
  return *this;
}
OpCase& OpCase::attr(const std::string& key, double value) {
  std::ostringstream text;
  text.precision(17);
  text << value;
  return attr(key, text.str());
}

OpCase& OpCase::in(const Shape& shape, double lo, double hi) {
  const std::string name = op_ + "/" + name_ + "/" + std::to_string(inputs_.size());
  inputs_.push_back({.value = HostTensor::formula(shape, formula::seed_of(name), lo, hi)});
  return *this;
}
OpCase& OpCase::in(const Shape& shape, const std::vector<double>& values) {
  inputs_.push_back({.value = HostTensor(shape, values)});
  return *this;
}
OpCase& OpCase::in_indices(const Shape& shape, int below) {
  in(shape, 0, below);
  for (double& v : inputs_.back().value.values) v = std::floor(v);
  return no_grad(static_cast<int>(inputs_.size()) - 1);
}

OpCase& OpCase::set_reference(OpReference f) {
  reference_ = std::move(f);
  return *this;
}
OpCase& OpCase::ref(const std::vector<double>& values) {
  fixed_ = {values};
  return *this;
}
OpCase& OpCase::property(std::function<void(const HostTensors&, const HostTensors&)> expect) {
  property_ = std::move(expect);
  return *this;
}
OpCase& OpCase::grad_ref(OpReference gradients) {
  grad_reference_ = std::move(gradients);
  return *this;
}
OpCase& OpCase::raises(const std::string& text) {
  error_ = text;
  return *this;
}
OpCase& OpCase::no_grad(int input) {
  no_grad_inputs_.insert(input);
  return *this;
}
OpCase& OpCase::no_grad() {
  no_grad_ = true;
  return *this;
}
OpCase& OpCase::dtypes(std::vector<DType> types) {
  types_ = std::move(types);
  return *this;
}
OpCase& OpCase::tolerance(DType dtype, double relative, double absolute) {
  tolerances_[dtype] = {relative, absolute};
  return *this;
}
OpCase& OpCase::train(bool is_train) {
  is_train_ = is_train;
  return *this;
}
OpCase& OpCase::recovers(std::vector<int> inputs) {
  recovers_ = std::move(inputs);
  return *this;
}
OpCase& OpCase::imperative_only() {
  imperative_ = true;
  return *this;
}

HostTensors OpCase::values() const {
  HostTensors out;
  for (const Input& i : inputs_) out.push_back(i.value);
  return out;
}
bool OpCase::wants_grad(int input) const { return !no_grad_ && !no_grad_inputs_.contains(input); }
Tolerance OpCase::tolerance_for(DType dtype) const {
  const auto it = tolerances_.find(dtype);
  return it == tolerances_.end() ? tolerance_of(dtype) : it->second;
}

// The recorded types stay as they were recorded where they are mixed or not plain floats.
void OpCase::take(const golden::Case& g) {
  recorded_ = true;
  attrs_ = g.attrs;
  inputs_.clear();
  golden::Tensors all = g.inputs;
  all.insert(all.end(), g.aux.begin(), g.aux.end());
  if (g.repeat > 0) {
    imperative_ = true;
    all = g.inputs;
  }
  bool finite = true, same = true;
  for (const golden::Tensor& t : all) {
    inputs_.push_back({.value = t.all.value(), .dtype = t.dtype});
    for (const double v : t.all->values) finite &= std::isfinite(v);
    same &= t.dtype == all.front().dtype;
  }
  if (all.empty()) types_ = {DType::kFloat32};
  if (!all.empty()) types_ = {all.front().dtype};
  const bool plain_float =
      !all.empty() && (types_[0] == DType::kFloat32 || types_[0] == DType::kFloat64);
  if (same && plain_float) {
    for (Input& i : inputs_) i.dtype.reset();
  }
  if (!finite || !plain_float) no_grad();
  const auto run =
      std::find_if(g.runs.begin(), g.runs.end(), [](const auto& r) { return r.is_train; });
  if (g.runs.empty()) return;
  const golden::Run& r = run == g.runs.end() ? g.runs.front() : *run;
  is_train_ = r.is_train;
  if (!r.has_backward) no_grad();
  for (std::size_t i = 0; i < g.inputs.size(); ++i) {
    const auto has = [&](const golden::Tensor& t) { return t.name == g.inputs[i].name; };
    if (std::none_of(r.grads.begin(), r.grads.end(), has)) no_grad(static_cast<int>(i));
  }
  HostTensors outputs;
  for (const golden::Tensor& t : r.outputs) {
    if (t.all) outputs.push_back(*t.all);
  }
  // Too large to be recorded whole: the replay compares it, the other checks are done here.
  if (outputs.size() == r.outputs.size()) {
    reference_ = [outputs](const HostTensors&) { return outputs; };
  }
}

OpCase& OpCase::recorded() {
  for (const golden::Case& g : golden::cases_of(op_)) {
    if (g.name != name_) continue;
    take(g);
    return *this;
  }
  throw std::runtime_error("tests/golden/ops has no case '" + name_ + "' of " + op_);
}

OpCases& OpCases::op(const std::string& name) {
  op_ = name;
  return *this;
}
OpCase& OpCases::add(const std::string& name) { return cases_.emplace_back(op_, name); }
OpCases& OpCases::recorded(const std::function<void(OpCase&)>& change) {
  for (const golden::Case& g : golden::cases_of(op_)) {
    OpCase& c = add(g.name);
    c.take(g);
    if (change) change(c);
  }
  return *this;
}

namespace {

struct Registered {
  std::string op;  ///< empty for a family
  OpCaseWriter write;
};
std::vector<Registered>& registered() {
  static std::vector<Registered> all;
  return all;
}

// The cases of one operator; each runs even when another failed.
class OpTest : public ::testing::Test {
 public:
  OpTest(std::string op, Registered source) : op_(std::move(op)), source_(std::move(source)) {}
  void TestBody() override {
    const CaptureLog quiet;  // differences call forward many times over
    OpCases cases(source_.op);
    source_.write(cases);
    for (const OpCase& c : cases.all()) {
      if (c.op() != op_) continue;
      SCOPED_TRACE("case '" + c.name() + "' of " + op_);
      try {
        check_op_case(c);
      } catch (const std::exception& e) {
        ADD_FAILURE() << "case '" << c.name() << "' of " << op_ << ": " << e.what();
      }
    }
  }

 private:
  std::string op_;
  Registered source_;
};

void make_test(const std::string& op, const Registered& source, const char* file, int line) {
  ::testing::RegisterTest("Ops", op.c_str(), nullptr, nullptr, file, line,
                          [=]() -> ::testing::Test* { return new OpTest(op, source); });
}

}  // namespace

bool register_op_cases(const char* op, OpCaseWriter write, const char* file, int line) {
  registered().push_back({op, write});
  make_test(op, registered().back(), file, line);
  return true;
}

bool register_op_family(OpCaseWriter write, const char* file, int line) {
  registered().push_back({"", write});
  OpCases cases;
  write(cases);
  std::set<std::string> made;
  for (const OpCase& c : cases.all()) {
    if (made.insert(c.op()).second) make_test(c.op(), registered().back(), file, line);
  }
  return true;
}

void for_every_case(const std::function<void(const OpCase&)>& look) {
  for (const Registered& r : registered()) {
    OpCases cases(r.op);
    r.write(cases);
    for (const OpCase& c : cases.all()) look(c);
  }
}

std::set<std::string> operators_with_cases() {
  std::set<std::string> ops;
  for_every_case([&](const OpCase& c) { ops.insert(c.op()); });
  return ops;
}

}  // namespace symbind
