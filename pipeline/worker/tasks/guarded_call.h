#pragma once

// Calls the user's class and turns every exception into an Error.

#include <exception>
#include <string>
#include <string_view>

#include <brigade/result.h>
#include <brigade/text.h>

namespace brigade {

/// Messages of users' libraries may be empty, or have a backtrace below their first line.
inline std::string first_line(std::string_view what) {
  const std::string_view line = trim(what.substr(0, what.find('\n')));
  return line.empty() ? "an exception without a message" : std::string(line);
}

/// Runs a call of the user's class; an exception becomes its error, cut to one line.
template <class Call>
auto guarded(Call&& call) -> decltype(call()) {
  try {
    return call();
  } catch (const std::exception& exception) {
    return Error{first_line(exception.what())};
  } catch (...) {
    return Error{"an exception that is not a std::exception"};
  }
}

}  // namespace brigade
