#include "pipeline/process/commands/print.h"

#include <unistd.h>

#include "base/printable.h"
#include "base/shared_path.h"

namespace brigade {

void print(std::string_view text) {
  static_cast<void>(write_all(STDOUT_FILENO, printable_lines(text)));
}

void print_error(std::string_view text) {
  static_cast<void>(write_all(STDERR_FILENO, printable_lines(text)));
}

void print_line(std::string_view text) { print(printable(text) + '\n'); }

}  // namespace brigade
