#pragma once
// Which gradients a group of executors computes.

#include <map>
#include <string>
#include <vector>

#include <symbind/symbol.h>

namespace symbind {

struct GradReqRoles {
  const std::vector<std::string>&params, &fixed, &data;
  bool inputs_need_grad;
};

/// A single text applies to parameters that are not fixed, and to data if their gradients are
/// needed; a list is in argument order; a dict overrides "write" for all.
std::map<std::string, std::string> resolve_grad_req(const GradReqArg& given,
                                                    const std::vector<std::string>& arguments,
                                                    const GradReqRoles& roles);

}  // namespace symbind
