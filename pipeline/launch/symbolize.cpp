#include "pipeline/launch/symbolize.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "pipeline/worker/crash_handler.h"

namespace brigade {
namespace {

constexpr const char* kNameCharacters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.$";

}  // namespace

std::string readable_backtrace(std::string line) {
  if (!line.starts_with(kBacktracePrefix)) return line;
  const std::size_t name = line.find("(_Z", kBacktracePrefix.size());
  if (name == line.npos) return line;
  const std::size_t start = name + 1;
  const std::size_t end = std::min(line.find_first_not_of(kNameCharacters, start), line.size());
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(line.substr(start, end - start).c_str(), nullptr, nullptr, &status),
      std::free);
  return status == 0 ? line.replace(start, end - start, text.get()) : line;
}

}  // namespace brigade
