// A byte of options and a text as a table of images: every line is a path and a label, or an error
// of one line that says where.

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include <brigade/check.h>
#include <brigade/harness.h>
#include "stages/image/image_stages.h"

namespace brigade {
namespace {

using namespace testing_support;

constexpr std::uint64_t kLinesMax = 100;  // looked at

const StageType& image_list() {
  static const StageTypes types = [] {
    StageTypes list;
    add_image_list(list);
    return list;
  }();
  return types.all()[0];
}

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
  const auto stage = StageHarness::open(image_list(), {params, {}, {}});
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
}  // namespace brigade

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const int fd = memfd_create("list", 0);
  BRIGADE_CHECK(fd >= 0 && write(fd, data + 1, size - 1) == static_cast<ssize_t>(size - 1), fd);
  brigade::read("/proc/self/fd/" + std::to_string(fd), data[0]);
  close(fd);
  return 0;
}
