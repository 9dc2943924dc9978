#pragma once

// The crop of an image, and its size after a resize.
// Pure arithmetic, without pixels. Per axis,
//
//   image pixels [begin, begin + size)  ->  `resized` pixels  ->  [first, first + count) of them
//                                       ->  `out` pixels, `pad` zeros before those
//
// The random part is torchvision's RandomResizedCrop
// (torchvision/transforms/transforms.py): up to ten tries to draw an area and an
// aspect ratio that fit, then the largest centered crop that has an allowed
// ratio. Users rely on its draws from the sample's random numbers, in this order:
//
//   for each try: uniform(scale), uniform(log ratio), then, if the cut fits into the image,
//                 below(H - h + 1) and below(W - w + 1), its first row and column
//   after all of them: chance(flip), unless flip is 0 or 1

#include <cstdint>
#include <vector>

#include <brigade/random.h>
#include "stages/image/decode_image_contract.h"
#include "stages/image/geometry/picture_move.h"
#include "stages/image/geometry/resample.h"

namespace brigade {

struct AxisCut {
  std::int64_t begin = 0;
  std::int64_t size = 0;
  std::int64_t resized = 0;
  std::int64_t first = 0;
  std::int64_t count = 0;
  std::int64_t pad = 0;
  std::int64_t out = 0;

  AxisResize resize() const { return {size, resized, first, count}; }
};

/// What is read of an axis: pixels of the image as it is read, from `begin` on.
struct AxisRead {
  std::int64_t begin = 0;
  AxisResize resize;
};

/// What a side becomes of an image that is read at 1 / `reduction` of its size.
constexpr std::int64_t shrunk_side(std::int64_t side, int reduction) {
  return (side + reduction - 1) / reduction;
}

/// Of an axis of `side` pixels. Where the image is read at 1 / `reduction` of its size, its last
/// pixel covers less than the others, or, where they are stored in reverse (`reversed`), its first.
BRIGADE_API AxisRead read_of(const AxisCut& cut, std::int64_t side, int reduction, bool reversed);

struct Cut {
  AxisCut rows;
  AxisCut columns;
  bool flip = false;  ///< left to right, last of all
};

/// Where places of the image lie in what is cut out.
BRIGADE_API PlaceMatrix matrix_of(const Cut& cut);
/// The same, for what belongs to an image of this size: resized, cut out, and mirrored or not.
BRIGADE_API std::vector<PictureMove> moves_of(const Cut& cut, PictureSize image);

/// Of an image of `height` x `width` pixels, both positive.
/// `random` goes on behind what was drawn.
BRIGADE_API Cut choose_cut(const DecodeImageParams& params, std::int64_t height, std::int64_t width,
                           Philox& random);
inline Cut choose_cut(const DecodeImageParams& params, std::int64_t height, std::int64_t width,
                      const Philox& random) {
  Philox copy = random;
  return choose_cut(params, height, width, copy);
}

}  // namespace brigade
