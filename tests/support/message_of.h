#pragma once

// What an error says, as a text that can be compared.

#include <string>

#include <brigade/result.h>

namespace brigade {

template <class T>
std::string message_of(const Result<T>& result, const char* without = "no error") {
  return result ? without : result.error().message;
}

}  // namespace brigade
