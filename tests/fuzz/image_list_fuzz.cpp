// A byte of options and a text as a table of images: every line is a path and a label, or an error
// of one line that says where.

#include <sys/mman.h>
#include <unistd.h>

#include <string>

#include <brigade/check.h>
#include <brigade/harness.h>
#include "base/io.h"
#include "stages/image/image_stages.h"
#include "tests/fuzz/entry.h"
#include "tests/support/only_type.h"

namespace brigade {
namespace {

using namespace testing_support;

constexpr std::uint64_t kLinesMax = 100;  // looked at

void check_error(const Error& error, const std::string& path) {
  BRIGADE_CHECK(error.message.starts_with(path) && error.message.find('\n') == std::string::npos,
                error.message);
}

void read(const std::string& path, std::uint8_t options) {
  const ParamTexts params{{"file", path},
                          {"header", (options & 1) != 0 ? "true" : "false"},
                          {"labels", (options & 2) != 0 ? "names" : "numbers"},
                          {"separator", (options & 4) != 0 ? "\t" : ","},
                          {"path", (options & 8) != 0 ? "2" : "path"},
                          {"label", (options & 16) != 0 ? "none" : "label"},
                          {"root", "/data"},
                          {"read_ahead", "false"}};
  const auto stage = StageHarness::open(only_type<add_image_list>(), {params, {}, {}});
  if (!stage) return check_error(stage.error(), path);
  const std::uint64_t lines = *(*stage)->producer().size();
  BRIGADE_CHECK(lines > 0);
  for (std::uint64_t i = 0; i < lines && i < kLinesMax; ++i) {
    const auto call = (*stage)->read(i);
    (void)(*stage)->producer().describe(i);
    if (!call) {
      check_error(call.error(), path);
    } else {
      BRIGADE_CHECK(!(*call)["path"].bytes.empty() && (*call)["path"].bytes[0] == std::byte{'/'});
    }
  }
}

}  // namespace

void fuzz(std::string_view input) {
  if (input.empty()) return;
  const int fd = memfd_create("list", 0);
  BRIGADE_CHECK(fd >= 0 && write_all(fd, input.substr(1)), fd);
  read("/proc/self/fd/" + std::to_string(fd), static_cast<std::uint8_t>(input[0]));
  close(fd);
}

}  // namespace brigade
