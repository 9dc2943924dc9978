#include "stages/api/npy_trailer.h"

#include <xxhash.h>

#include <bit>
#include <cstdint>
#include <cstring>

#include <brigade/check.h>

namespace brigade {
namespace {

constexpr std::string_view kTrailerMagic = "brigade\n";
constexpr std::uint32_t kTrailerVersion = 1;
constexpr std::size_t kTrailerIdentityAt = 16;
constexpr std::size_t kTrailerSumAt = kTrailerIdentityAt + kIdentityDigits;
static_assert(kTrailerSumAt + sizeof(std::uint64_t) == kNpyTrailerBytes);
static_assert(std::endian::native == std::endian::little);

}  // namespace

bool has_npy_trailer(std::string_view bytes) {
  return bytes.size() >= kNpyTrailerBytes &&
         bytes.substr(bytes.size() - kNpyTrailerBytes).starts_with(kTrailerMagic);
}

std::string_view without_npy_trailer(std::string_view bytes) {
  if (has_npy_trailer(bytes)) bytes.remove_suffix(kNpyTrailerBytes);
  return bytes;
}

NpySum::NpySum() : state_(XXH3_createState(), [](XXH3_state_s* state) { XXH3_freeState(state); }) {
  BRIGADE_CHECK(state_ != nullptr, "out of memory");
  XXH3_64bits_reset(state_.get());
}

void NpySum::add(std::string_view bytes) {
  XXH3_64bits_update(state_.get(), bytes.data(), bytes.size());
}

std::string NpySum::trailer(std::string_view identity) {
  BRIGADE_CHECK(identity.size() == kIdentityDigits, identity.size());
  std::string trailer(kTrailerMagic);
  trailer.resize(kNpyTrailerBytes);
  std::memcpy(trailer.data() + kTrailerMagic.size(), &kTrailerVersion, sizeof kTrailerVersion);
  std::memcpy(trailer.data() + kTrailerIdentityAt, identity.data(), identity.size());
  add(std::string_view(trailer).substr(0, kTrailerSumAt));
  const std::uint64_t sum = XXH3_64bits_digest(state_.get());
  std::memcpy(trailer.data() + kTrailerSumAt, &sum, sizeof sum);
  return trailer;
}

Result<std::string> NpySum::identity(std::string_view found) {
  const Error damaged{"it is damaged: its checksum does not match its bytes"};
  if (found.size() != kNpyTrailerBytes) return damaged;
  const std::string_view identity = found.substr(kTrailerIdentityAt, kIdentityDigits);
  if (trailer(identity) != found) return damaged;
  return std::string(identity);
}

}  // namespace brigade
