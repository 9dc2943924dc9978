#pragma once

// Writes small images: PNG, 8 bits per channel, no filter. For viewing the
// output of a stage, not for speed; libpng would be one more library in every
// worker. Format: PNG specification, second edition (ISO/IEC 15948:2004). Pure.

#include <cstdint>
#include <span>
#include <string>

namespace brigade {

/// `pixels`: height x width x channels, row-major; channels 1 (gray), 2 (with alpha), 3 (RGB) or 4
/// (with alpha). height and width at least 1.
std::string encode_png(std::span<const std::uint8_t> pixels, std::uint32_t height,
                       std::uint32_t width, std::uint32_t channels);

}  // namespace brigade
