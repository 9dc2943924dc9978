#pragma once

// Where the decoder can enter a baseline JPEG file. Huffman codes have no index: to
// read a crop, a decoder has to read all codes before it. With these entries, which one
// decode leaves behind, a later one begins shortly before the crop, in each of its rows.

#include <array>
#include <cstdint>
#include <vector>

namespace brigade {

/// State of the decoder before a minimum coded unit (MCU), behind a restart marker that comes
/// there.
struct JpegEntry {
  std::uint64_t bits = 0;                    ///< of the file, from the scan's first byte to the MCU
  std::array<std::int16_t, 3> last_dc = {};  ///< per component of the scan
  friend bool operator==(const JpegEntry&, const JpegEntry&) = default;
};

/// One per column of MCUs that is a multiple of `kEntryEvery`, row by row.
struct JpegPositions {
  static constexpr std::int64_t kEntryEvery = 8;
  static constexpr int kComponentsMax = 3;

  std::int64_t known = 0;               ///< MCUs from the first on that were read without a warning
  std::vector<JpegEntry> entries = {};  ///< those of the known MCUs
};

}  // namespace brigade
