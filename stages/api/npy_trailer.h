#pragma once

// The trailer that Brigade adds to its own .npy files (`shared: save:`). NumPy reads
// only as many bytes as the header declares, so that it can still read the file.
//
//   "brigade\n" | version, 4 bytes | zeros, 4 bytes | identity, 32 hex digits | XXH3, 8 bytes
//
// Numbers are little-endian. XXH3 is that of every byte before it, from the file's first.

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include <brigade/result.h>

struct XXH3_state_s;

namespace brigade {

inline constexpr std::size_t kNpyTrailerBytes = 56;
/// Of a run's identity (ResumePoint::identity).
inline constexpr std::size_t kIdentityDigits = 32;

/// Whether the file has one, damaged or not. `bytes`: the whole file, or its end.
bool has_npy_trailer(std::string_view bytes);

/// The file without its trailer, where it has one.
std::string_view without_npy_trailer(std::string_view bytes);

/// Of a file that is read or written in pieces from its first byte: add()*, then the one or the
/// other. One thread.
class NpySum {
 public:
  NpySum();
  void add(std::string_view bytes);
  /// To be written behind what was added. `identity`: kIdentityDigits.
  std::string trailer(std::string_view identity);
  /// The identity in the trailer behind what was added. Error: a byte is not as it was written.
  Result<std::string> identity(std::string_view trailer);

 private:
  std::unique_ptr<XXH3_state_s, void (*)(XXH3_state_s*)> state_;
};

}  // namespace brigade
