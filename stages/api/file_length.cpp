#include "stages/api/file_length.h"

#include <algorithm>

#include <brigade/text.h>
#include "base/units.h"

namespace brigade {

Result<void> check_length(const std::string& path, const FileHeader& file,
                          std::uint64_t header_bytes, std::uint64_t data_bytes,
                          std::string_view said) {
  if (file.is_gzip) {
    if (data_bytes / kDeflateRatioMax <= file.file_bytes) return {};
    return Error{concat(path, ": its header says ", said, ", but the file has ",
                        format_size(file.file_bytes))};
  }
  const std::uint64_t have = file.file_bytes - std::min(file.file_bytes, header_bytes);
  if (have == data_bytes) return {};
  return Error{concat(path, have < data_bytes ? ": ends after " : ": contains ", format_count(have),
                      " bytes of data; its header says ", said, ", which is ",
                      format_count(data_bytes), " bytes")};
}

}  // namespace brigade
