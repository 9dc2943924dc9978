#include <brigade/check.h>

#include <cstdio>
#include <cstdlib>

#include "base/printable.h"

namespace brigade::detail {

void check_failed(const char* condition, const char* file, int line, const std::string& values) {
  std::fprintf(stderr, "brigade: internal error: %s is false at %s:%d:%s\n", condition, file, line,
               printable(values).c_str());
  std::fflush(stderr);
  std::abort();
}

}  // namespace brigade::detail
