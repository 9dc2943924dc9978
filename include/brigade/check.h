#pragma once

// BRIGADE_CHECK(condition, values...): an assertion that is always on, for conditions that hold
// in a correct program. Prints the condition, its place and the values, then aborts. Faults
// that a user, a file or the machine can cause are a Result (brigade/result.h), never a check.

#include <sstream>
#include <string>

#include <brigade/export.h>

namespace brigade::detail {

[[noreturn]] BRIGADE_API void check_failed(const char* condition, const char* file, int line,
                                           const std::string& values);

template <class... Values>
std::string check_values(const Values&... values) {
  std::ostringstream out;
  ((out << ' ' << values), ...);
  return out.str();
}

}  // namespace brigade::detail

#define BRIGADE_CHECK(condition, ...)                                                \
  do {                                                                               \
    if (!(condition)) [[unlikely]]                                                   \
      ::brigade::detail::check_failed(#condition, __FILE__, __LINE__,                \
                                      ::brigade::detail::check_values(__VA_ARGS__)); \
  } while (false)
