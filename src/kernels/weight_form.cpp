#include "kernels/weight_form.h"

#include <cstdio>
#include <map>
#include <mutex>
#include <utility>

#include "base/check.h"

namespace symbind {

namespace {

/// One object for all kernels that read forms of this name: arrays keep a form during its
/// lifetime. So forms are freed with the plans that use them, and plans that use the same form
/// share it.
std::shared_ptr<const void> use_of(const std::string& key) {
  struct Uses {
    std::mutex guard;
    std::map<std::string, std::weak_ptr<const std::string>> by_key;
  };
  static Uses& uses = *new Uses;  // never destroyed: plans may be made after main
  const std::lock_guard lock(uses.guard);
  std::erase_if(uses.by_key, [](const auto& one) { return one.second.expired(); });
  auto& known = uses.by_key[key];
  std::shared_ptr<const std::string> use = known.lock();
  if (use == nullptr) known = use = std::make_shared<const std::string>(key);
  return use;
}

}  // namespace

std::string form_key(const void* bytes, std::size_t count) {
  std::uint64_t hash = 1469598103934665603u;
  const auto* all = static_cast<const unsigned char*>(bytes);
  for (std::size_t i = 0; i < count; ++i) hash = (hash ^ all[i]) * 1099511628211u;
  char text[16];
  std::snprintf(text, sizeof(text), "%08x", static_cast<unsigned>(hash ^ (hash >> 32)));
  return text;
}

std::string form_key(std::initializer_list<std::int64_t> numbers) {
  return form_key(numbers.begin(), numbers.size() * sizeof(std::int64_t));
}

WeightForm::WeightForm(std::string key, std::size_t bytes, bool constant, Carver& workspace)
    : bytes_(bytes), constant_(constant), key_(std::move(key)) {
  if (constant_)
    use_ = use_of(key_);
  else
    offset_ = workspace.take(bytes_);
}

/// Where the form of a weight is made that users may write at any time: a form kept with the array
/// could be rewritten while another thread reads it. One block per thread, as large as the largest
/// such weight.
void* WeightForm::thread_buffer() const {
  thread_local std::unique_ptr<DerivedForm> buffer;
  if (buffer == nullptr || buffer->bytes() < bytes_)
    buffer = std::make_unique<DerivedForm>(cpu(), bytes_);
  return buffer->data();
}

DerivedForm& WeightForm::kept(const TensorArg& weight) const {
  SYMBIND_ASSERT(weight.storage != nullptr);
  const auto offset = static_cast<char*>(weight.data) - static_cast<char*>(weight.storage->data());
  return weight.storage->derived(key_, bytes_, static_cast<std::size_t>(offset), use_);
}

}  // namespace symbind
