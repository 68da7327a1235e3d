// Which rule fills an array: the variable's own initializer first, then the suffix of its name.

#include <symbind/initializer.h>

#include <cmath>
#include <string_view>

#include <symbind/executor.h>

#include "base/check.h"
#include "init/fill.h"

namespace symbind {
namespace {

using Hook = void (Initializer::*)(const InitDesc&, NDArray&) const;

struct Ending {
  std::string_view text;
  Hook hook;
};

constexpr Ending kEndings[] = {
    {"weight", &Initializer::init_weight},
    {"bias", &Initializer::init_bias},
    {"gamma", &Initializer::init_gamma},
    {"beta", &Initializer::init_beta},
    {"min", &Initializer::init_zero},
    {"max", &Initializer::init_one},
    {"weight_quantize", &Initializer::init_quantized_weight},
    {"bias_quantize", &Initializer::init_quantized_bias},
};

struct LegacyRule {
  std::string_view start, end;
  Hook hook;
};

constexpr LegacyRule kLegacyRules[] = {
    {"upsampling", "", &Initializer::init_bilinear},
    {"stn_loc", "weight", &Initializer::init_zero},
    {"stn_loc", "bias", &Initializer::init_loc_bias},
    {"", "bias", &Initializer::init_bias},
    {"", "gamma", &Initializer::init_gamma},
    {"", "beta", &Initializer::init_beta},
    {"", "weight", &Initializer::init_weight},
    {"", "moving_mean", &Initializer::init_zero},
    {"", "moving_var", &Initializer::init_one},
    {"", "moving_inv_var", &Initializer::init_zero},
    {"", "moving_avg", &Initializer::init_zero},
    {"", "min", &Initializer::init_zero},
    {"", "max", &Initializer::init_one},
};

}  // namespace

Initializer::~Initializer() = default;

void Initializer::operator()(const InitDesc& given, NDArray& array) const {
  InitDesc desc = given;
  if (desc.global_init == nullptr) desc.global_init = this;
  const auto own = desc.attrs.find("__init__");
  if (own != desc.attrs.end() && !own->second.empty()) {
    init_by_attribute(desc, own->second, array);
    return report(desc, own->second, array);
  }
  for (const Ending& ending : kEndings) {
    if (!desc.name.ends_with(ending.text)) continue;
    (this->*ending.hook)(desc, array);
    return report(desc, std::string(ending.text), array);
  }
  init_default(desc, array);
}

void Initializer::legacy(const std::string& name, NDArray& array) const {
  const InitDesc desc{.name = name, .attrs = {}, .global_init = this};
  for (const LegacyRule& rule : kLegacyRules)
    if (name.starts_with(rule.start) && name.ends_with(rule.end))
      return (this->*rule.hook)(desc, array);
  init_default(desc, array);
}

void Initializer::init_bias(const InitDesc&, NDArray& array) const { array.set(0.0); }
void Initializer::init_gamma(const InitDesc&, NDArray& array) const { array.set(1.0); }
void Initializer::init_beta(const InitDesc&, NDArray& array) const { array.set(0.0); }
void Initializer::init_zero(const InitDesc&, NDArray& array) const { array.set(0.0); }
void Initializer::init_one(const InitDesc&, NDArray& array) const { array.set(1.0); }
void Initializer::init_quantized_bias(const InitDesc&, NDArray& array) const { array.set(0.0); }

void Initializer::init_bilinear(const InitDesc& desc, NDArray& array) const {
  fill_bilinear(desc.name, array);
}

void Initializer::init_loc_bias(const InitDesc& desc, NDArray& array) const {
  check(array.ndim() > 0 && array.shape()[0] == 6, ErrorKind::kState,
        "{} is the bias of an affine transform and needs 6 numbers; its shape is {}", desc.name,
        array.shape().str());
  array.set(NDArray({1, 0, 0, 0, 1, 0}, {6}, array.context()));
}

void Initializer::init_quantized_weight(const InitDesc&, NDArray& array) const {
  const std::vector<NDArray> drawn =
      invoke("_random_randint", {},
             {{"low", "-127"}, {"high", "127"}, {"shape", "(1,)"}, {"dtype", "int32"}});
  array.set(drawn[0].scalar());
}

void Initializer::init_default(const InitDesc& desc, NDArray&) const {
  fail(ErrorKind::kValue,
       "Unknown initialization pattern for {}. Default initialization is now limited to "
       "\"weight\", \"bias\", \"gamma\" (1.0), and \"beta\" (0.0)."
       "Please use mx.sym.Variable(init=mx.init.*) to set initialization pattern",
       desc.name);
}

void Initializer::init_by_attribute(const InitDesc& desc, const std::string& init,
                                    NDArray& array) const {
  create_initializer(init)->init_weight(desc, array);
}

void Initializer::report(const InitDesc&, const std::string&, const NDArray&) const {}

}  // namespace symbind
