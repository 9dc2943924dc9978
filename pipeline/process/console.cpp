#include "pipeline/process/console.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

#include "base/log.h"
#include "base/printable.h"
#include "pipeline/plan/text_table.h"

namespace brigade {
namespace {

constexpr std::string_view kClearLine = "\r\033[K";
constexpr std::size_t kColumnsUnknown = 80;

std::size_t columns_of(int fd) {
  winsize size{};
  if (ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kColumnsUnknown;
  return size.ws_col;
}

LogLevel level_of(LineKind kind) {
  if (kind == LineKind::error) return LogLevel::error;
  return kind == LineKind::warning ? LogLevel::warning : LogLevel::info;
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

Console::Console(int fd, bool quiet, LogFile* log)
    : fd_(fd), quiet_(quiet), terminal_(isatty(fd) == 1), log_(log) {}

Console::~Console() {
  if (live_) write_out("\n");
}

void Console::line(LineKind kind, const std::string& foreign) {
  const std::string text = printable(foreign);
  if (log_ != nullptr) log_->write(level_of(kind), text);
  const bool about_a_stage = kind == LineKind::output;
  if (quiet_ && (about_a_stage || kind == LineKind::note)) return;
  clear_live();
  write_out(concat(about_a_stage ? std::string_view() : log_prefix(level_of(kind)), text, '\n'));
}

void Console::progress(const std::string& foreign) {
  const std::string text = printable(foreign);
  if (const std::int64_t now = monotonic_ns(); log_ != nullptr && now >= next_logged_ns_) {
    log_->write(LogLevel::info, text);
    next_logged_ns_ = now + kPlainEveryNs;
  }
  if (quiet_) return;
  if (!terminal_) return write_out(concat(text, '\n'));
  write_out(concat(kClearLine, cut_to_width(text, columns_of(fd_) - 1)));
  live_ = true;
}

std::int64_t Console::progress_every_ns() const {
  if (quiet_) return 0;
  return terminal_ ? kLiveEveryNs : kPlainEveryNs;
}

void Console::clear_live() {
  if (!live_) return;
  write_out(std::string(kClearLine));
  live_ = false;
}

void Console::write_out(const std::string& text) {
  std::string_view rest = text;
  while (!rest.empty()) {
    const ssize_t written = write(fd_, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;  // nobody to tell
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace brigade
