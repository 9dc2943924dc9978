#include "pipeline/worker/tasks/guarded_call.h"

#include <brigade/text.h>

namespace brigade {

std::string first_line(std::string_view what) {
  const std::string_view line = trim(what.substr(0, what.find('\n')));
  return line.empty() ? "an exception without a message" : std::string(line);
}

}  // namespace brigade
