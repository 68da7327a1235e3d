// Initializers made of others: Load, Mixed, Verbose.

#include <cmath>
#include <regex>

#include <fmt/format.h>

#include <symbind/executor.h>
#include <symbind/log.h>

#include "base/check.h"
#include "init/fill.h"
#include "ndarray/number_text.h"

namespace symbind {
namespace {

/// One that dispatches by names only; it fills no single weight itself.
struct ByName : Initializer {
  void init_weight(const InitDesc& desc, NDArray& array) const override { (*this)(desc, array); }
  void legacy(const std::string& name, NDArray& array) const override {
    (*this)({.name = name}, array);
  }
  std::string dumps() const override {
    fail(ErrorKind::kNotImplemented, "Load and Mixed have no text form");
  }
};

struct LoadInit : ByName {
  void operator()(const InitDesc& desc, NDArray& array) const override {
    const auto found = arrays.find(desc.name);
    if (found != arrays.end()) {
      check(
          found->second.shape() == array.shape(), ErrorKind::kState,
          "Parameter {} cannot be initialized from loading. Shape mismatch, target {} vs loaded {}",
          desc.name, array.shape().str(), found->second.shape().str());
      found->second.copy_to(array);
      if (verbose) log_info(fmt::format("Initialized {} by loading", desc.name));
      return;
    }
    check(otherwise != nullptr, ErrorKind::kState,
          "Cannot Initialize {}. Not found in loaded param and no default Initializer is provided.",
          desc.name);
    (*otherwise)(desc, array);
    if (verbose) log_info(fmt::format("Initialized {} by default", desc.name));
  }
  NDArrayMap arrays;
  InitializerPtr otherwise;
  bool verbose = false;
};

struct MixedInit : ByName {
  void operator()(const InitDesc& desc, NDArray& array) const override {
    for (const auto& [pattern, init] : rules)
      if (std::regex_search(desc.name, pattern, std::regex_constants::match_continuous))
        return (*init)(desc, array);
    fail(ErrorKind::kValue,
         "Parameter name {} did not match any pattern. Consider add a \".*\" pattern at the end "
         "with "
         "default Initializer.",
         desc.name);
  }
  std::vector<std::pair<std::regex, InitializerPtr>> rules;
};

/// Runs another initializer and logs it.
struct VerboseInit : Initializer {
  using Array = NDArray;
  using Desc = InitDesc;
  void init_weight(const Desc& d, Array& a) const override { init->init_weight(d, a); }
  void init_bias(const Desc& d, Array& a) const override { init->init_bias(d, a); }
  void init_gamma(const Desc& d, Array& a) const override { init->init_gamma(d, a); }
  void init_beta(const Desc& d, Array& a) const override { init->init_beta(d, a); }
  void init_zero(const Desc& d, Array& a) const override { init->init_zero(d, a); }
  void init_one(const Desc& d, Array& a) const override { init->init_one(d, a); }
  void init_default(const Desc& d, Array& a) const override { init->init_default(d, a); }
  void legacy(const std::string& name, Array& a) const override { init->legacy(name, a); }
  void init_quantized_weight(const Desc& d, Array& a) const override {
    init->init_quantized_weight(d, a);
  }
  void init_by_attribute(const Desc& d, const std::string& text, Array& a) const override {
    init->init_by_attribute(d, text, a);
  }
  void report(const Desc& desc, const std::string& role, const Array& array) const override {
    const double norm = invoke("norm", {array})[0].scalar();
    const auto mean = static_cast<float>(norm / std::sqrt(static_cast<double>(array.size())));
    log_info(fmt::format("Initialized {} as {}: {}", desc.name, role, scalar_text(mean)));
  }
  std::string dumps() const override { return init->dumps(); }
  InitializerPtr init;
};

}  // namespace

InitializerPtr Load(const NDArrayMap& arrays, InitializerPtr otherwise, bool verbose) {
  auto made = std::make_shared<LoadInit>();
  for (const auto& [name, array] : arrays) {
    const bool prefixed = name.starts_with("arg:") || name.starts_with("aux:");
    made->arrays[prefixed ? name.substr(4) : name] = array;
  }
  made->otherwise = std::move(otherwise);
  made->verbose = verbose;
  return made;
}

InitializerPtr Load(const std::string& path, InitializerPtr otherwise, bool verbose) {
  return Load(load(path).map(), std::move(otherwise), verbose);
}

InitializerPtr Mixed(const std::vector<std::pair<std::string, InitializerPtr>>& patterns) {
  auto made = std::make_shared<MixedInit>();
  for (const auto& [pattern, init] : patterns) {
    check(init != nullptr, "Mixed: pattern '{}' has no initializer", pattern);
    try {
      made->rules.emplace_back(std::regex(pattern), init);
    } catch (const std::regex_error& error) {
      fail(ErrorKind::kValue, "Mixed: '{}' is not a regular expression: {}", pattern, error.what());
    }
  }
  return made;
}

InitializerPtr Verbose(InitializerPtr init) {
  check(init != nullptr, "Verbose needs an initializer");
  auto made = std::make_shared<VerboseInit>();
  made->init = std::move(init);
  return made;
}

}  // namespace symbind
