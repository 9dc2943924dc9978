#include "pipeline/cli/commands/print.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdint>
#include <utility>

#include "base/io.h"
#include "base/log.h"
#include "base/printable.h"
#include "pipeline/supervisor/line_writer.h"

namespace brigade {

void print(std::string_view text) {
  static_cast<void>(write_all(STDOUT_FILENO, printable_lines(text)));
}

void print_error(std::string_view text) {
  static_cast<void>(write_all(STDERR_FILENO, printable_lines(text)));
}

void print_line(std::string_view text) { print(printable(text) + '\n'); }

int failed(int code, const std::string& message) {
  log_error(message);
  return code;
}

void print_at_the_end(std::string_view text) {
  const auto nothing_is_lost_before = [](std::uint64_t) { return std::string(); };
  OwnedFd copy(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0));
  const auto writer = LineWriter::start({std::move(copy), false, nothing_is_lost_before});
  if (!writer) return print(text);
  (*writer)->line(LineWriter::Rank::error, printable_lines(text));
}

}  // namespace brigade
