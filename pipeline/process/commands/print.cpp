#include "pipeline/process/commands/print.h"

#include <unistd.h>

#include <cerrno>

namespace brigade {
namespace {

void write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace

void print(std::string_view text) { write_all(STDOUT_FILENO, text); }
void print_error(std::string_view text) { write_all(STDERR_FILENO, text); }

}  // namespace brigade
