#pragma once

// The two parameters of every operation that reads outside the image.

#include "stages/image/augment/operation.h"
#include "stages/image/augment/warp.h"

namespace brigade {

struct BorderParams {
  Interpolation interpolation = Interpolation::nearest;
  std::int64_t fill = 0;
  Border border() const { return {interpolation, static_cast<std::uint8_t>(fill)}; }
};

/// `P` is a BorderParams.
template <class P>
Contract<P> with_border(Contract<P> table) {
  return table
      .choice("interpolation", static_cast<Interpolation P::*>(&P::interpolation),
              {{"nearest", Interpolation::nearest}, {"bilinear", Interpolation::bilinear}},
              "how values between pixels are computed")
      .param("fill", static_cast<std::int64_t P::*>(&P::fill), 0, 255,
             "level of the pixels outside the image");
}

}  // namespace brigade
