#include "base/limits.h"

#include "base/check.h"
#include "base/settings.h"

namespace symbind {
namespace {

struct Row {
  const char* setting;
  const char* what;
};

// In the order of Limit.
constexpr Row kRows[] = {
    {"SYMBIND_LIMIT_FILE_BYTES", "bytes"},
    {"SYMBIND_LIMIT_FILE_ARRAYS", "arrays"},
    {"SYMBIND_LIMIT_SPARSE_BYTES", "bytes of sparse arrays made dense"},
    {"SYMBIND_LIMIT_NODE_INPUTS", "inputs"},
    {"SYMBIND_LIMIT_NODE_OUTPUTS", "outputs"},
    {"SYMBIND_LIMIT_NAME_BYTES", "bytes in a name"},
    {"SYMBIND_LIMIT_NESTING", "levels of nesting"},
    {"SYMBIND_LIMIT_THREADS", "threads"},
    {"SYMBIND_LIMIT_DEVICE_WAIT", "seconds"},
};

}  // namespace

std::int64_t limit(Limit which) { return settings::number(kRows[static_cast<int>(which)].setting); }

void check_limit(Limit which, std::int64_t value, std::string_view owner, ErrorKind kind) {
  const std::int64_t most = limit(which);
  const Row& row = kRows[static_cast<int>(which)];
  check(value <= most, kind, "{} has {} {}; the limit is {} (the environment variable {} sets it)",
        owner, value, row.what, most, row.setting);
}

}  // namespace symbind
