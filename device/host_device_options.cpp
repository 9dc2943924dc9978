#include "device/host_device_options.h"

#include <brigade/text.h>
#include "base/units.h"

namespace brigade {

Result<HostDeviceOptions> HostDeviceOptions::parse(std::string_view text) {
  HostDeviceOptions options;
  for (const std::string_view word : split(text, ' ')) {
    if (word.empty()) continue;
    const std::size_t sign = word.find('=');
    const std::string_view name = word.substr(0, sign);
    const std::string_view value = sign == word.npos ? "" : word.substr(sign + 1);
    if (sign == word.npos && (name == "read_only_refused" || name == "early")) {
      (name == "early" ? options.early : options.read_only_refused) = true;
      continue;
    }
    const Result<std::uint64_t> number = parse_size(value);
    std::uint64_t* const of = name == "memory"      ? &options.memory_bytes
                              : name == "pinned"    ? &options.pinned_bytes
                              : name == "fail_copy" ? &options.fail_copy
                              : name == "events"    ? &options.events
                                                    : nullptr;
    if (!number || (of == nullptr && name != "delay_us" && name != "checks"))
      return Error{concat(kHostDeviceVariable, ": expected delay_us=N, memory=SIZE, pinned=SIZE, ",
                          "fail_copy=N, events=N, checks=0, read_only_refused or early, found ",
                          quote(word))};
    if (of != nullptr) *of = *number;
    if (name == "delay_us") options.delay = std::chrono::microseconds(*number);
    if (name == "checks") options.checks = *number != 0;
  }
  return options;
}

}  // namespace brigade
