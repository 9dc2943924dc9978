#pragma once

// The contract of decode_image: in the core, without an image library. The implementation
// is the module `image`; it opens the module `imgcodecs` for WebP and TIFF.

#include <cstdint>
#include <string>
#include <vector>

#include <brigade/contract.h>
#include "stages/image/targets_param.h"

namespace brigade {

/// At most so many channels does a picture have.
inline constexpr int kPictureChannelsMax = 32;

/// How many channels the picture gets: a number, or `all`.
struct ChannelCount {
  std::int64_t count = 3;  ///< 3: as RGB; another number: those of the file, which has so many
  bool all = false;        ///< as many as the file has; `count` is the most

  constexpr bool rgb() const { return count == 3 && !all; }
};
Result<void> parse_param(const ParamValue& value, ChannelCount& out);
ParamValue print_param(const ChannelCount& value);
template <>
constexpr ParamType param_type_of<ChannelCount>() {
  return ParamType::integer_or_all;
}

struct DecodeImageParams {
  enum class Crop : std::uint8_t { random_resized, center, none };
  enum class Quality : std::uint8_t { antialias, bilinear, reduced };

  Crop crop = Crop::random_resized;
  std::int64_t size = 224;
  std::int64_t resize = 0;
  std::vector<double> scale = {0.08, 1};
  std::vector<double> ratio = {0.75, 4.0 / 3};
  double flip = 0;
  Quality quality = Quality::antialias;
  double reducing_gap = 3;
  ChannelCount channels;
  std::int64_t side_max = 4096;
  std::int64_t pixels_max = std::int64_t{64} << 20;
  std::string mask;
  std::string mask_path;
  int mask_fill = 0;
  bool geometry = false;
  Targets targets;
  OutputPath decode_index;

  bool ragged() const { return crop == Crop::none && size == 0; }
  bool has_mask() const { return !mask.empty() || !mask_path.empty(); }
};

/// Where the bytes of an image come from, in the order in which they are looked for.
enum class ImageSource : std::uint8_t {
  encoded,  ///< the tensor `encoded`
  range,    ///< `size` bytes from `offset` on of the file `file`
  path      ///< the file `path`
};

/// Of these inputs; an error where they are incomplete.
BRIGADE_API Result<ImageSource> image_source(const Ports& in);

Contract<DecodeImageParams> decode_image_contract();

}  // namespace brigade
