// The modes of a thread, variables, and the short public functions.

#include <symbind/autograd.h>

#include "autograd/tape.h"
#include "base/check.h"
#include "ndarray/access.h"

namespace symbind {
namespace autograd {
namespace {

GradReq req_from(const std::string& text) {
  if (text == "write") return GradReq::kWrite;
  if (text == "add") return GradReq::kAdd;
  check(text == "null", "grad_req='{}' is not known; choose 'write', 'add' or 'null'", text);
  return GradReq::kNull;
}

}  // namespace

bool is_recording() { return thread_mode().recorder != nullptr; }
bool is_training() { return thread_mode().training; }

bool set_recording(bool on) {
  return std::exchange(thread_mode().recorder, on ? &tape() : nullptr) != nullptr;
}
bool set_training(bool on) { return std::exchange(thread_mode().training, on); }

Scope::Scope(std::optional<bool> recording, std::optional<bool> training)
    : recording_(is_recording()), training_(is_training()) {
  if (recording) set_recording(*recording);
  if (training) set_training(*training);
}
Scope::~Scope() {
  set_recording(recording_);
  set_training(training_);
}

void mark_variables(const std::vector<NDArray*>& variables, const std::vector<NDArray>& gradients,
                    const std::vector<std::string>& grad_reqs) {
  check(variables.size() == gradients.size(), "mark_variables: {} variables, {} gradients",
        variables.size(), gradients.size());
  check(grad_reqs.size() == 1 || grad_reqs.size() == variables.size(),
        "mark_variables: {} variables, {} values of grad_req", variables.size(), grad_reqs.size());
  std::vector<std::shared_ptr<TapeNode>> made;
  for (std::size_t i = 0; i < variables.size(); ++i) {
    check(variables[i] != nullptr, "mark_variables: variable {} is not an array", i);
    check_defined(*variables[i], "mark_variables");
    check_defined(gradients[i], "mark_variables");
    check(variables[i]->shape() == gradients[i].shape(), ErrorKind::kShape,
          "mark_variables: variable {} has shape {}, its gradient {}", i,
          variables[i]->shape().str(), gradients[i].shape().str());
    made.push_back(make_leaf("var", *variables[i], true));
    made.back()->is_marked = true;
    made.back()->gradient = gradients[i].detach();
    made.back()->req = req_from(grad_reqs[grad_reqs.size() == 1 ? 0 : i]);
  }
  for (std::size_t i = 0; i < variables.size(); ++i) variables[i]->set_tape({made[i], 0});
}

}  // namespace autograd

void NDArray::attach_grad(std::string_view grad_req) {
  check_defined(*this, "attach_grad");
  const Unrecorded within;
  autograd::mark_variables({this}, {zeros(shape_, context(), dtype_)}, {std::string(grad_req)});
}

NDArray NDArray::grad() const {
  const auto node = autograd::tape_node(*this);
  return node != nullptr && node->is_marked ? node->gradient : NDArray();
}

void NDArray::backward() const { backward(NDArray()); }
void NDArray::backward(const NDArray& head_grad, bool retain_graph, bool train_mode) const {
  autograd::backward(
      {*this}, {.head_grads = {head_grad}, .retain_graph = retain_graph, .train_mode = train_mode});
}

}  // namespace symbind
