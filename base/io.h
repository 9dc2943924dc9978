#pragma once

// System calls and their error messages: interrupted calls are repeated, short reads and
// writes are continued, and errno becomes a sentence, here and nowhere else. Any thread.

#include <sys/types.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <brigade/export.h>
#include <brigade/result.h>

namespace brigade {

/// Makes a call that says -1 and errno, and makes it again while a signal interrupts it.
template <class Call>
auto retry(const Call& call) {
  for (;;)
    if (const auto answer = call(); answer >= 0 || errno != EINTR) return answer;
}

/// "No such file or directory".
BRIGADE_API std::string errno_text(int error = errno);

/// "cannot open: No such file or directory". Where descriptors are lacking it says how to get more.
BRIGADE_API Error error_of_errno(std::string_view what, int error = errno);

/// As many calls as it takes. How many bytes there were, fewer than asked for only at the end of
/// the file; -1: errno says why.
BRIGADE_API ssize_t read_all_at(int fd, void* data, std::size_t bytes, std::uint64_t offset);

/// The first `bytes_max` bytes of a regular file, or all it has; nothing: errno says why.
BRIGADE_API std::optional<std::string> read_start(int fd, std::size_t bytes_max);

/// As many calls as it takes; false: errno says why.
BRIGADE_API bool write_all(int fd, std::string_view bytes);
BRIGADE_API bool write_all_at(int fd, std::string_view bytes, std::uint64_t offset);

}  // namespace brigade
