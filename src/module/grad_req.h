#pragma once
// Which gradients a group of executors asks for.

#include <map>
#include <string>
#include <vector>

#include <symbind/symbol.h>

namespace symbind {

struct GradReqRoles {
  const std::vector<std::string>&params, &fixed, &data;
  bool inputs_need_grad;
};

/// One text for all is for parameters that are not fixed, and for data if their gradients are
/// wanted; a list is in argument order; a dict replaces what "write" for all would say.
std::map<std::string, std::string> resolve_grad_req(const GradReqArg& given,
                                                    const std::vector<std::string>& arguments,
                                                    const GradReqRoles& roles);

}  // namespace symbind
