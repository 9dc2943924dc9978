#pragma once

// The sample layout of a TIFF file, and the supported kinds of files.

#include <tiff.h>

#include <cstdint>
#include <optional>

#include <brigade/result.h>

namespace brigade {

/// How the samples lie.
struct TiffLayout {
  std::uint32_t height = 0, width = 0;
  std::uint16_t bits = 1, samples = 1, photometric = 0, planes = PLANARCONFIG_CONTIG;
  std::uint16_t compression = 0, format = SAMPLEFORMAT_UINT, orientation = 1;
  bool tiled = false;
  std::uint16_t alphas = 0;
  int associated = -1;  ///< the sample with the alpha that the colors are multiplied by
  std::uint32_t block_height = 0, block_width = 0;

  bool apart() const { return planes == PLANARCONFIG_SEPARATE && samples > 1; }
  /// Programs for satellite pictures write colors as gray with more samples.
  bool rgb() const {
    return photometric == PHOTOMETRIC_RGB ||
           (photometric == PHOTOMETRIC_MINISBLACK && samples - alphas >= 3);
  }
  int colors() const { return rgb() ? 3 : 1; }
  int left_out() const { return samples - alphas - colors(); }
};

/// An error that names what is not read; `configured`: libtiff has the compression; `stored`: the
/// samples are given as they are, inks too.
Result<void> check_kind(const TiffLayout& in, bool configured, bool stored = false);

/// What a compression makes of one byte at most; nothing: codes of less than a bit per sample.
std::optional<std::uint64_t> tiff_ratio_max(std::uint16_t compression);

}  // namespace brigade
