#pragma once

// The parameters of tar_shards, and the members of an archive that they request. Plain functions.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <brigade/params.h>
#include <brigade/result.h>
#include "stages/image/index/tar_index.h"

namespace brigade {

enum class TarLabels { numbers, names };

struct TarShardsParams {
  InputFiles shards;
  std::vector<std::string> image = {"jpg", "jpeg", "png", "webp", "bmp",
                                    "tif", "tiff", "ppm", "pgm"};
  std::string label = "cls";
  std::string label_field;
  TarLabels labels = TarLabels::numbers;
  InputPath classes;
  std::vector<std::string> extra;
  std::int64_t extra_bytes = 64 << 10;
  std::int64_t key_bytes = 256;
  OutputPath index;
  bool read_ahead = true;
};

/// "jpg" of ".jpg", in small letters.
std::string extension_of(std::string_view text);

/// Errors: what contradicts itself.
Result<TarFields> tar_fields_of(const TarShardsParams& params);

/// Of a label that is a whole number: the text of a member with that extension, or a field of it.
/// An error, to be read after the member's name, says what else it may be.
Result<std::int64_t> label_number(std::string_view text, std::string_view extension,
                                  const TarFields& fields);

}  // namespace brigade
