#include "pipeline/report/log_file.h"

#include <unistd.h>

#include <ctime>

#include "base/clock.h"
#include "base/printable.h"
#include "base/shared_path.h"

namespace brigade {
namespace {

std::string padded(int number, std::size_t width) {
  std::string digits = concat(number);
  return digits.size() < width ? std::string(width - digits.size(), '0') + digits : digits;
}

std::string_view level_name(LogLevel level) {
  switch (level) {
    case LogLevel::warning:
      return "warning";
    case LogLevel::error:
      return "error";
    case LogLevel::info:
      break;
  }
  return "info";
}

}  // namespace

std::string utc_text(std::int64_t seconds, int milliseconds) {
  const std::time_t time = seconds;
  std::tm parts{};
  gmtime_r(&time, &parts);
  return concat(parts.tm_year + 1900, '-', padded(parts.tm_mon + 1, 2), '-',
                padded(parts.tm_mday, 2), 'T', padded(parts.tm_hour, 2), ':',
                padded(parts.tm_min, 2), ':', padded(parts.tm_sec, 2), '.', padded(milliseconds, 3),
                'Z');
}

Result<LogFile> LogFile::open(const std::string& path) {
  auto opened = open_to_append(path, Existing::anything);
  if (!opened) return opened.error().within("the log file");
  return LogFile{path, std::move(*opened)};
}

std::string logged(LogLevel level, std::string_view message) {
  const std::int64_t now_ms = utc_ns() / 1'000'000;
  return concat(utc_text(now_ms / 1000, static_cast<int>(now_ms % 1000)), ' ', level_name(level),
                ' ', printable(message));
}

}  // namespace brigade
