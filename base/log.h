#pragma once

// Log lines for the user of a graph. A line is built from parts and passed to one sink;
// until the process layer replaces it (once, at start), lines go to standard error as
//   brigade: the message
//   brigade: warning: the message
// each with one write(2), so that lines of several threads and processes do not mix.
// Callable from any thread; not from a signal handler.

#include <string_view>

#include <brigade/export.h>
#include <brigade/text.h>

namespace brigade {

enum class LogLevel { info, warning, error };

/// Gets the message without prefix and line end. Called by several threads at once.
using LogSink = void (*)(LogLevel level, std::string_view message);

/// Replaces the sink; at most once in a process, before other threads log.
BRIGADE_API void set_log_sink(LogSink sink);

/// Hands one message to the sink.
BRIGADE_API void log_line(LogLevel level, std::string_view message);

/// What stands before a message of this level: "brigade: ", "brigade: warning: ", ...
BRIGADE_API std::string_view log_prefix(LogLevel level);

template <class... Parts>
void log(LogLevel level, const Parts&... parts) {
  log_line(level, concat(parts...));
}

template <class... Parts>
void log_warning(const Parts&... parts) {
  log(LogLevel::warning, parts...);
}
template <class... Parts>
void log_error(const Parts&... parts) {
  log(LogLevel::error, parts...);
}

}  // namespace brigade
