#pragma once

// A hash of the contents of a source's files, for Producer::fingerprint(): independent
// of their paths and times, different for other contents. XXH3, chained. Files up to
// kFingerprintWholeBytes are read whole: 10 ms for 50 MB in the system's cache, where
// the run needs them anyway. Larger files are sampled in evenly spaced blocks: a
// rebuilt dataset is detected, a change of a few bytes may not be. One thread.

#include <cstdint>
#include <string_view>

namespace brigade {

inline constexpr std::size_t kFingerprintWholeBytes = std::size_t{64} << 20;
inline constexpr std::size_t kFingerprintBlocks = 64;  ///< of a larger file, the last at its end
inline constexpr std::size_t kFingerprintBlockBytes = std::size_t{64} << 10;
static_assert(kFingerprintBlocks * kFingerprintBlockBytes < kFingerprintWholeBytes);

class Fingerprint {
 public:
  /// All of these bytes.
  void add(std::string_view bytes);
  /// A file's, or those of it that are samples.
  void add_file(std::string_view bytes);

  /// Never 0, which says that none is known.
  std::uint64_t value() const { return hash_ | 1; }

 private:
  std::uint64_t hash_ = 0;
};

}  // namespace brigade
