// Stores by name.
//
// Decided here: MXNet treats any unknown name as a local store, so a typing mistake is not noticed;
// here a name must be known, or contain local or device.

#include <symbind/kvstore.h>

#include <algorithm>
#include <map>
#include <mutex>

#include <fmt/ranges.h>

#include "base/check.h"
#include "base/nearest.h"
#include "base/settings.h"
#include "kvstore/async_store.h"
#include "kvstore/compression.h"
#include "kvstore/dist_store.h"
#include "kvstore/local_store.h"

namespace symbind {
namespace {

const std::vector<std::string> kLocal = {"local", "device", "local_allreduce_cpu",
                                         "local_allreduce_device", "local_update_cpu"};
// Sums over workers. Where MXNet sums on the workers' GPUs or splits arrays (p3), the sum is the
// same.
const std::vector<std::string> kDist = {"dist_sync", "dist", "dist_device_sync", "dist_sync_device",
                                        "p3"};
const std::string kAsync = "dist_async";
const std::vector<std::string> kElsewhere = {"nccl", "horovod", "byteps"};

struct Registry {
  std::mutex guard;
  std::map<std::string, StoreFactory> factories;
};

Registry& registry() {
  static Registry all;
  return all;
}

bool contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

void KVStore::assign(const Key& key, const NDArray&) {
  fail(ErrorKind::kNotImplemented, "kvstore '{}' cannot replace the value of key {}", type(),
       key_text(key));
}

void KVStore::set_gradient_compression(const AttrDict&) {
  fail(ErrorKind::kNotImplemented,
       "kvstore '{}' does not compress gradients\n  fix:  use a store whose type contains device, "
       "for example 'device' or 'local_allreduce_device', or omit compression_params",
       type());
}

void check_compression_params(const AttrDict& params) { GradientCompression{params}; }

void register_kvstore(const std::string& type, StoreFactory factory) {
  const std::lock_guard lock(registry().guard);
  registry().factories[type] = std::move(factory);
}

std::shared_ptr<KVStore> create_kvstore(const std::string& given) {
  settings::refresh();
  std::string type = given;
  std::ranges::transform(type, type.begin(), [](unsigned char c) { return std::tolower(c); });
  std::vector<std::string> known = kLocal;
  {
    const std::lock_guard lock(registry().guard);
    const auto it = registry().factories.find(type);
    if (it != registry().factories.end()) return it->second(type);
    for (const auto& [name, factory] : registry().factories) known.push_back(name);
  }
  if (std::ranges::find(kDist, type) != kDist.end())
    return std::make_shared<DistStore>(type, DistJob::join(type, false));
  if (type == kAsync) return std::make_shared<AsyncStore>(DistJob::join(type, true));
  known.insert(known.end(), kDist.begin(), kDist.end());
  known.push_back(kAsync);
  check(!contains(type, "dist") && std::ranges::find(kElsewhere, type) == kElsewhere.end(),
        ErrorKind::kNotImplemented,
        "kvstore '{}' needs another library, which Symbind does not support; supported:  {}", given,
        fmt::join(known, ", "));
  check(contains(type, "local") || contains(type, "device"), ErrorKind::kName,
        "there is no kvstore '{}'; {}", given, nearest_hint(type, known));
  return std::make_shared<LocalStore>(type);
}

}  // namespace symbind
