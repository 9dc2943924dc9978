#include "device/pinning_kernel.h"

#include <sys/utsname.h>

#include <algorithm>
#include <array>

#include <brigade/text.h>
#include "base/units.h"

namespace brigade {

std::string running_kernel() {
  utsname name{};
  return uname(&name) == 0 ? name.release : "";
}

bool pins_little(std::string_view kernel) {
  constexpr std::array<std::string_view, 3> kReleases = {"6.11", "6.12", "6.13"};
  return std::any_of(kReleases.begin(), kReleases.end(), [&](std::string_view release) {
    const auto rest = strip_prefix(kernel, release);
    return rest && (rest->empty() || rest->front() < '0' || rest->front() > '9');
  });
}

std::string kernel_cause(std::string_view kernel, std::uint64_t bytes) {
  if (bytes <= kPinnedBytesByBug || !pins_little(kernel)) return "";
  return concat("; out of ", format_size(bytes), " in total, Linux ", kernel,
                " may reject all above ", format_size(kPinnedBytesByBug),
                ", a bug of 6.11 to 6.13");
}

}  // namespace brigade
