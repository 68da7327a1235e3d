#include "module/grad_req.h"

#include <algorithm>

#include "base/check.h"

namespace symbind {
namespace {

std::map<std::string, std::string> for_roles(const std::string& req,
                                             const std::vector<std::string>& arguments,
                                             const GradReqRoles& roles) {
  const auto in = [](const std::vector<std::string>& names, const std::string& name) {
    return std::ranges::find(names, name) != names.end();
  };
  std::map<std::string, std::string> result;
  for (const std::string& name : arguments) {
    const bool wanted = in(roles.params, name) ? !in(roles.fixed, name)
                                               : in(roles.data, name) && roles.inputs_need_grad;
    result[name] = wanted ? req : "null";
  }
  return result;
}

}  // namespace

std::map<std::string, std::string> resolve_grad_req(const GradReqArg& given,
                                                    const std::vector<std::string>& arguments,
                                                    const GradReqRoles& roles) {
  if (const auto* all = std::get_if<std::string>(&given)) return for_roles(*all, arguments, roles);
  if (const auto* list = std::get_if<std::vector<std::string>>(&given)) {
    check(list->size() == arguments.size(), ErrorKind::kState,
          "{} grad_req entries for {} arguments", list->size(), arguments.size());
    std::map<std::string, std::string> result;
    for (std::size_t i = 0; i < arguments.size(); ++i) result[arguments[i]] = (*list)[i];
    return result;
  }
  std::map<std::string, std::string> result = for_roles("write", arguments, roles);
  for (const auto& [name, req] : std::get<std::map<std::string, std::string>>(given))
    result[name] = req;
  return result;
}

}  // namespace symbind
