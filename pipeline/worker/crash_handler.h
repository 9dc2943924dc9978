#pragma once

// Prints a backtrace when a worker crashes or is aborted, on its
// standard error, line by line, which the supervisor shows with
// the worker's name and readable names (run/launch/worker_output.h).

#include <string_view>

namespace brigade {

/// In front of each line of a backtrace.
inline constexpr std::string_view kBacktracePrefix = "backtrace: ";

/// For SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT and SIGSYS, where nobody else (a sanitizer, a
/// library) has a handler already. After the backtrace the process ends by that signal. Once,
/// before other threads.
void install_crash_handler();

}  // namespace brigade
