#include "stages/basic/fingerprint.h"

#include <xxhash.h>

namespace brigade {

void Fingerprint::add(std::string_view bytes) {
  hash_ = XXH3_64bits_withSeed(bytes.data(), bytes.size(), hash_);
}

void Fingerprint::add_file(std::string_view bytes) {
  if (bytes.size() <= kFingerprintWholeBytes) return add(bytes);
  const std::uint64_t size = bytes.size();
  hash_ = XXH3_64bits_withSeed(&size, sizeof size, hash_);
  const std::size_t step = (bytes.size() - kFingerprintBlockBytes) / (kFingerprintBlocks - 1);
  for (std::size_t i = 0; i + 1 < kFingerprintBlocks; ++i)
    add(bytes.substr(i * step, kFingerprintBlockBytes));
  add(bytes.substr(bytes.size() - kFingerprintBlockBytes));
}

}  // namespace brigade
