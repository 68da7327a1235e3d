// Where Symbind's messages go.
#pragma once

#include <functional>
#include <string_view>

namespace symbind {

enum class LogLevel { kDebug, kInfo, kWarning, kError };

/// Receives every message, one call at a time, without a line end.
using LogSink = std::function<void(LogLevel, std::string_view)>;

/// Sends messages to `sink` from now on; an empty one restores stderr.
void set_log_sink(LogSink sink);

/// Sends one message. If the sink throws, writes to stderr; never throws.
void log_message(LogLevel level, std::string_view text) noexcept;

inline void log_debug(std::string_view text) noexcept { log_message(LogLevel::kDebug, text); }
inline void log_info(std::string_view text) noexcept { log_message(LogLevel::kInfo, text); }
inline void log_warning(std::string_view text) noexcept { log_message(LogLevel::kWarning, text); }
inline void log_error(std::string_view text) noexcept { log_message(LogLevel::kError, text); }

}  // namespace symbind
