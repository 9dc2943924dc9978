#include "pipeline/cli/commands/print.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <string_view>
#include <utility>

#include "base/io.h"
#include "base/log.h"
#include "base/printable.h"
#include "pipeline/report/line_writer.h"

namespace brigade {
namespace {

std::atomic<bool> lost = false;

/// `error`: errno; a reader that has gone wanted no more.
void lose(int error) {
  if (error == 0 || error == EPIPE || lost.exchange(true)) return;
  log_error("cannot write to standard output: ", errno_text(error));
}

}  // namespace

void print(std::string_view text) {
  if (!write_all(STDOUT_FILENO, printable_lines(text))) lose(errno);
}

bool output_was_lost() { return lost; }

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
  (*writer)->flush();
  lose((*writer)->take_failure());
}

void say_out_of_memory() {
  constexpr std::string_view kText =
      "brigade: error: out of memory; raise the limit on address space (`ulimit -v`) or on data "
      "(`ulimit -d`)\n";
  static std::atomic_flag said;
  while (said.test_and_set()) pause();  // another thread ends the program
  if (write(STDERR_FILENO, kText.data(), kText.size()) < 0) _exit(1);
  _exit(1);
}

}  // namespace brigade
