#pragma once

// The wrapper of every function of the C ABI (include/brigade/c.h): no exception
// passes, errors become a number and this thread's message, and structs are read
// and written as far as both caller and library know their members. Any thread.

#include <brigade/c.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <string_view>

#include <brigade/result.h>
#include <brigade/text.h>

namespace brigade::c_api {

/// Longest struct that a caller may have: above it, `size` was not set.
inline constexpr std::size_t kStructBytesMax = 4096;

/// Returns `status`; brigade_last_error() says `message` from now on.
brigade_status fail(brigade_status status, std::string_view message) noexcept;
/// The same for an error: what its refusal is called here, else `otherwise`.
brigade_status fail(const Error& error, brigade_status otherwise) noexcept;
/// An argument that must not be NULL is.
brigade_status is_null(const char* argument) noexcept;

template <class Call>
brigade_status guarded(const Call& call) {
  try {
    return call();
  } catch (const std::bad_alloc&) {
    return fail(BRIGADE_ERROR_MEMORY, "out of memory");
  } catch (const std::exception& exception) {
    return fail(BRIGADE_ERROR_INTERNAL, exception.what());
  }
}

/// `size` as the caller has set it, of a struct called `name`.
brigade_status check_size(std::size_t size, const char* name);

/// Reads what the caller has given, NULL as zeros.
template <class Struct>
brigade_status read_struct(const Struct* given, const char* name, Struct& known) {
  known = {};
  if (given == nullptr) return BRIGADE_OK;
  const std::size_t size = given->size;
  if (const brigade_status wrong = check_size(size, name); wrong != BRIGADE_OK) return wrong;
  const auto* bytes = reinterpret_cast<const unsigned char*>(given);
  for (std::size_t i = sizeof(Struct); i < size; ++i)
    if (bytes[i] != 0)
      return fail(BRIGADE_ERROR_ARGUMENT,
                  concat(name, " has members that this version of the library, ", brigade_version(),
                         ", does not know"));
  std::memcpy(&known, given, std::min(size, sizeof(Struct)));
  return BRIGADE_OK;
}

/// Writes as many members as the caller has, and zeros into those that are not known here.
template <class Struct>
brigade_status write_struct(Struct known, const char* name, Struct* to) {
  if (to == nullptr) return is_null(name);
  const std::size_t size = to->size;
  if (const brigade_status wrong = check_size(size, name); wrong != BRIGADE_OK) return wrong;
  known.size = size;
  std::memcpy(to, &known, std::min(size, sizeof(Struct)));
  if (size > sizeof(Struct))
    std::memset(reinterpret_cast<unsigned char*>(to) + sizeof(Struct), 0, size - sizeof(Struct));
  return BRIGADE_OK;
}

}  // namespace brigade::c_api

/// Returns from a function of the C ABI where an argument is NULL.
#define BRIGADE_C_NEEDS(argument) \
  if ((argument) == nullptr) return ::brigade::c_api::is_null(#argument)
