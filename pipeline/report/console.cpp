#include "pipeline/report/console.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <ctime>
#include <string_view>
#include <utility>

#include <brigade/text.h>
#include "base/clock.h"
#include "base/io.h"
#include "base/log.h"
#include "base/printable.h"
#include "base/shared_path.h"
#include "base/text_table.h"

namespace brigade {
namespace {

constexpr std::size_t kColumnsUnknown = 80;

std::size_t columns_of(int fd) {
  winsize size{};
  if (ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kColumnsUnknown;
  return size.ws_col;
}

LogLevel level_of(const Event& event) {
  if (event.level == EventLevel::error) return LogLevel::error;
  return event.level == EventLevel::warning ? LogLevel::warning : LogLevel::info;
}

bool about_a_stage(const Event& event) {
  return event.kind == EventKind::logged || event.kind == EventKind::printed;
}

std::string lost_text(std::uint64_t lines, std::string_view who) {
  return concat(format_count(lines), lines == 1 ? " line was" : " lines were", " dropped: ", who,
                " was too slow");
}

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

std::string cut_to_width(const std::string& text, std::size_t columns) {
  constexpr std::string_view kCut = "...";
  if (text_width(text) <= columns) return text;
  std::string cut = text;
  while (!cut.empty() && text_width(cut) + kCut.size() > columns) {
    while (!cut.empty() && (cut.back() & 0xc0) == 0x80) cut.pop_back();  // the rest of a character
    if (!cut.empty()) cut.pop_back();
  }
  return cut.append(kCut);
}

Console::Console(int fd, bool quiet) : fd_(fd), quiet_(quiet), terminal_(isatty(fd) == 1) {}

Result<std::unique_ptr<Console>> Console::create(int fd, bool quiet, std::optional<LogFile> log) {
  OwnedFd copy(fcntl(fd, F_DUPFD_CLOEXEC, 0));
  if (copy.get() < 0) return error_of_errno("cannot open a descriptor");
  std::unique_ptr<Console> console(new Console(fd, quiet));
  const bool terminal = console->terminal_;
  BRIGADE_ASSIGN(console->out_,
                 LineWriter::start({std::move(copy), terminal, [terminal](std::uint64_t lines) {
                                      return concat(log_prefix(LogLevel::warning),
                                                    lost_text(lines, terminal ? "the terminal"
                                                                              : "standard error"),
                                                    '\n');
                                    }}));
  if (!log) return console;
  console->log_path_ = log->path;
  BRIGADE_ASSIGN(console->log_,
                 LineWriter::start({std::move(log->fd), false, [](std::uint64_t lines) {
                                      return concat(
                                          logged(LogLevel::warning, lost_text(lines, "this file")),
                                          '\n');
                                    }}));
  return console;
}

Console::~Console() { flush(); }

void Console::tell(const Event& event) {
  if (event.level == EventLevel::debug) return;
  const std::string text = printable(event_text(event));
  if (event.kind == EventKind::progress) return progress(text);
  const LineWriter::Rank rank = rank_of(event);
  if (log_) log_->line(rank, concat(logged(level_of(event), text), '\n'));
  say_what_the_log_lacks();
  if (quiet_ && event.level == EventLevel::info) return;
  out_->line(rank, concat(about_a_stage(event) ? std::string_view() : log_prefix(level_of(event)),
                          text, '\n'));
}

void Console::progress(const std::string& text) {
  if (const std::int64_t now = monotonic_ns(); log_ && now >= next_logged_ns_) {
    log_->progress(logged(LogLevel::info, text));
    next_logged_ns_ = now + kPlainEveryNs;
  }
  say_what_the_log_lacks();
  if (!quiet_) out_->progress(terminal_ ? cut_to_width(text, columns_of(fd_) - 1) : text);
}

std::int64_t Console::progress_every_ns() const {
  if (quiet_) return 0;
  return terminal_ ? kLiveEveryNs : kPlainEveryNs;
}

void Console::flush() {
  if (!out_) return;  // its thread did not start: there is nothing to write
  if (log_) log_->flush();
  say_what_the_log_lacks();
  out_->flush();
}

void Console::say_what_the_log_lacks() {
  if (!log_) return;
  const int failure = log_->take_failure();
  if (failure == 0) return;
  out_->line(LineWriter::Rank::note,
             concat(log_prefix(LogLevel::warning), "cannot write the log file ", log_path_, ": ",
                    errno_text(failure), "; lines are missing until it is writable\n"));
}

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
