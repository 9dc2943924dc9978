#include "pipeline/api/c/c_call.h"

#include <optional>

#include "base/build_facts.h"
#include "base/printable.h"

namespace brigade::c_api {
namespace {

struct LastError {
  std::string message;
  const char* fixed = nullptr;  // where there was no memory for it
};

LastError& last_error() {
  thread_local LastError last;
  return last;
}

}  // namespace

brigade_status fail(brigade_status status, std::string_view message) noexcept {
  LastError& last = last_error();
  last.fixed = nullptr;
  try {
    // Paths, file names and texts of stages are in it. A graph's mistakes have lines of ours.
    last.message = status == BRIGADE_ERROR_GRAPH ? printable_lines(message) : printable(message);
  } catch (const std::bad_alloc&) {
    last.fixed = "out of memory";
  }
  return status;
}

brigade_status fail(const Error& error, brigade_status otherwise) noexcept {
  switch (error.refusal) {
    case Refusal::held:
      return fail(BRIGADE_ERROR_HELD, error.message);
    case Refusal::unread:
      return fail(BRIGADE_ERROR_UNREAD, error.message);
    case Refusal::interrupted:
      return fail(BRIGADE_ERROR_INTERRUPTED, error.message);
    case Refusal::lost:
    case Refusal::other:
      break;
  }
  return fail(otherwise, error.message);
}

brigade_status is_null(const char* argument) noexcept {
  try {
    return fail(BRIGADE_ERROR_ARGUMENT, concat(argument, " is NULL"));
  } catch (const std::bad_alloc&) {
    return fail(BRIGADE_ERROR_ARGUMENT, "an argument is NULL");
  }
}

brigade_status check_size(std::size_t size, const char* name) {
  if (size >= sizeof(std::size_t) && size <= kStructBytesMax) return BRIGADE_OK;
  return fail(BRIGADE_ERROR_ARGUMENT, concat("the size of ", name, " is ", size,
                                             "; set its first member to the size of the struct"));
}

}  // namespace brigade::c_api

using brigade::c_api::last_error;

const char* brigade_version(void) { return brigade::build_facts().version; }

const char* brigade_last_error(void) {
  const auto& last = last_error();
  return last.fixed != nullptr ? last.fixed : last.message.c_str();
}
