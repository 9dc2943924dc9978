#pragma once

// Checks whether a file is long enough for its header, when the
// plan is made, so that no run allocates memory for missing data.

#include <cstdint>
#include <string>
#include <string_view>

#include <brigade/result.h>
#include <brigade/types.h>

namespace brigade {

inline constexpr std::uint64_t kDeflateRatioMax = 1032;  ///< bytes that one byte of gzip holds

/// `header_bytes`: where the data begin; `data_bytes`: as many are said to follow, and no more;
/// `said`: how the header says it. Of a gzipped file only the most that it can hold is known. An
/// error begins with the path.
BRIGADE_API Result<void> check_length(const std::string& path, const FileHeader& file,
                                      std::uint64_t header_bytes, std::uint64_t data_bytes,
                                      std::string_view said);

}  // namespace brigade
