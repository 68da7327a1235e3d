#pragma once
// Settings: environment variables, read as snapshots (docs/settings.md).

#include <string>
#include <string_view>

namespace symbind {

/// Takes a snapshot of the environment variables that are settings (docs/settings.md); everything
/// reads the snapshot. Binding, fit, loading a file and the creation of iterators, stores,
/// optimizers and Predictors call it too: no other thread may change the environment meanwhile.
void refresh_settings();

/// The value of a setting in the snapshot; kName if there is no such setting.
std::string setting(std::string_view name);

/// Calls `read` where no other thread changes the environment.
using EnvironmentGuard = void (*)(void (*read)());

/// Installs a wrapper around every snapshot; Python's wrapper holds the GIL. Null removes it.
void set_environment_guard(EnvironmentGuard guard);

}  // namespace symbind
