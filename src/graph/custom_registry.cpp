#include "graph/custom_registry.h"

#include <map>
#include <mutex>
#include <numeric>

#include "base/check.h"
#include "base/nearest.h"

namespace symbind {
namespace {

struct Registered {
  std::mutex guard;  ///< never held while user code runs
  std::map<std::string, std::function<CustomDescriptionPtr(const AttrDict&)>> by_type;
  std::function<CustomDescriptionPtr(const std::string&, const AttrDict&)> other;
};

Registered& registered() {
  static Registered& all = *new Registered;  // never destroyed: threads may outlive main
  return all;
}

}  // namespace

CustomDescriptionPtr describe_custom(const std::string& op_type, const AttrDict& rest) {
  std::function<CustomDescriptionPtr(const AttrDict&)> factory;
  std::function<CustomDescriptionPtr(const std::string&, const AttrDict&)> other;
  std::vector<std::string> known;
  {
    const std::lock_guard lock(registered().guard);
    const auto it = registered().by_type.find(op_type);
    if (it != registered().by_type.end()) factory = it->second;
    for (const auto& [name, made] : registered().by_type) known.push_back(name);
    other = registered().other;
  }
  CustomDescriptionPtr made;
  if (factory) {
    made = factory(rest);
    check(made != nullptr, ErrorKind::kState, "Custom: the factory of '{}' returned null", op_type);
  } else if (other) {
    made = other(op_type, rest);
  }
  check(made != nullptr, ErrorKind::kName, "Cannot find custom operator {}; {}", op_type,
        nearest_hint(op_type, known));
  return made;
}

void store(NDArray& to, StoreReq req, const NDArray& value) {
  if (req == StoreReq::kWrite || req == StoreReq::kInplace) to.set(value);
  if (req == StoreReq::kAdd) to += value;
}

void CustomKernel::backward(CustomBackward) {
  fail(ErrorKind::kNotImplemented, "this custom operator has no backward");
}

CustomShapes CustomOpDescription::infer_shape(const std::vector<Shape>& in) const {
  check(!in.empty(), "an operator without inputs must override infer_shape");
  return {in, std::vector<Shape>(outputs().size(), in[0]), std::vector<Shape>(aux().size(), in[0])};
}

CustomTypes CustomOpDescription::infer_type(const std::vector<DType>& in) const {
  const DType first = in.empty() ? DType::kFloat32 : in[0];
  return {in, std::vector<DType>(outputs().size(), first), std::vector<DType>(aux().size(), first)};
}

std::vector<int> CustomOpDescription::backward_reads() const {
  const auto num_out = static_cast<int>(outputs().size());
  const int first = needs_head_gradient() ? 0 : num_out;
  std::vector<int> all(static_cast<std::size_t>(2 * num_out - first) + inputs().size());
  std::iota(all.begin(), all.end(), first);
  return all;
}

void register_custom(const std::string& op_type,
                     std::function<CustomDescriptionPtr(const AttrDict&)> factory) {
  check(factory != nullptr, "register_custom '{}': the factory is empty", op_type);
  const std::lock_guard lock(registered().guard);
  registered().by_type[op_type].swap(factory);  // the old one is destroyed after unlocking
}

void register_custom_factory(
    std::function<CustomDescriptionPtr(const std::string&, const AttrDict&)> factory) {
  const std::lock_guard lock(registered().guard);
  registered().other.swap(factory);
}

}  // namespace symbind
