#pragma once

// Calls the user's class and turns every exception into an Error.

#include <exception>
#include <string>
#include <string_view>

#include <brigade/result.h>

namespace brigade {

/// Messages of users' libraries may be empty, or have a backtrace below their first line.
std::string first_line(std::string_view what);

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
