#include <symbind/symbol.h>

namespace symbind {
namespace {

thread_local NameManager* current_manager = nullptr;
thread_local AttrScope* current_scope = nullptr;

}  // namespace

NameManager::NameManager() : previous_(current_manager) { current_manager = this; }
NameManager::~NameManager() {
  if (current_manager == this) current_manager = previous_;
}

NameManager& NameManager::current() {
  if (current_manager == nullptr) {
    thread_local NameManager first;  // its constructor makes it current
    current_manager = &first;
  }
  return *current_manager;
}

std::string NameManager::get(const std::string& name, const std::string& hint) {
  return name.empty() ? hint + std::to_string(counters_[hint]++) : name;
}

std::string Prefix::get(const std::string& name, const std::string& hint) {
  return prefix_ + NameManager::get(name, hint);
}

AttrScope::AttrScope(AttrDict attrs) : attrs_(std::move(attrs)), previous_(current_scope) {
  if (previous_ != nullptr) attrs_.insert(previous_->attrs_.begin(), previous_->attrs_.end());
  current_scope = this;
}
AttrScope::~AttrScope() { current_scope = previous_; }

AttrDict AttrScope::merged(const AttrDict& given) {
  AttrDict all = given;
  if (current_scope != nullptr)
    all.insert(current_scope->attrs_.begin(), current_scope->attrs_.end());
  return all;
}

}  // namespace symbind
