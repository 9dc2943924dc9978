#pragma once

// BRIGADE_CHECK(condition, values...): always on. For what cannot happen in a correct program;
// prints the condition, its place and the values, then aborts. What a user, a file or the machine
// can cause is a Result (brigade/result.h), never a check.

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
