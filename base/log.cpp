#include "base/log.h"

#include <unistd.h>

#include <atomic>

#include <brigade/check.h>
#include "base/io.h"
#include "base/printable.h"

namespace brigade {

namespace {

void write_to_stderr(LogLevel level, std::string_view message) {
  const std::string line = concat(log_prefix(level), message, '\n');
  static_cast<void>(write_all(STDERR_FILENO, line));  // there is nobody to tell of a failure
}

// constinit: a line may be logged before and after the static objects of other files live.
constinit std::atomic<LogSink> current_sink{&write_to_stderr};

}  // namespace

void set_log_sink(LogSink sink) {
  BRIGADE_CHECK(sink != nullptr);
  LogSink first = &write_to_stderr;
  BRIGADE_CHECK(current_sink.compare_exchange_strong(first, sink), "set_log_sink called twice");
}

void log_line(LogLevel level, std::string_view message) {
  current_sink.load()(level, printable(message));
}

std::string_view log_prefix(LogLevel level) {
  switch (level) {
    case LogLevel::warning:
      return "brigade: warning: ";
    case LogLevel::error:
      return "brigade: error: ";
    case LogLevel::info:
      break;
  }
  return "brigade: ";
}

}  // namespace brigade
