// Optimizers by name.
#include <algorithm>
#include <mutex>

#include <fmt/format.h>

#include "base/check.h"
#include "base/nearest.h"
#include "optimizer/builtin.h"

namespace symbind {
namespace {

using Maker = std::function<std::shared_ptr<Optimizer>()>;

struct Registry {
  std::mutex guard;
  std::map<std::string, Maker, std::less<>> makers;
};

std::string lower(std::string_view name) {
  std::string text(name);
  std::ranges::transform(text, text.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
  });
  return text;
}

Registry& registry() {
  static Registry* const the_registry = [] {
    auto* made = new Registry;
    for (const BuiltinOptimizer& one : builtin_optimizers())
      made->makers[lower(one.class_name)] = one.make;
    return made;
  }();
  return *the_registry;
}

}  // namespace

std::shared_ptr<Optimizer> make_optimizer(std::string_view name) {
  Maker make;
  {
    const std::lock_guard lock(registry().guard);
    const auto it = registry().makers.find(lower(name));
    if (it != registry().makers.end()) make = it->second;
  }
  if (!make) {
    const std::vector<std::string> names = optimizer_names();
    fail(ErrorKind::kName, "Cannot find optimizer '{}'; {} optimizers: {}", name,
         nearest_hint(name, names), fmt::join(names, ", "));
  }
  return make();
}

std::shared_ptr<Optimizer> create_optimizer(std::string_view name, const OptimizerParams& params) {
  std::shared_ptr<Optimizer> optimizer = make_optimizer(name);
  optimizer->configure(params);
  return optimizer;
}

void register_optimizer(std::string_view name, std::function<std::shared_ptr<Optimizer>()> make) {
  const std::lock_guard lock(registry().guard);
  registry().makers[lower(name)] = std::move(make);
}

std::vector<std::string> optimizer_names() {
  const std::lock_guard lock(registry().guard);
  std::vector<std::string> names;
  for (const auto& [name, make] : registry().makers) names.push_back(name);
  return names;
}

}  // namespace symbind
