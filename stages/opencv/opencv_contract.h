#pragma once

// The contract of the stage `opencv`: in the core, without OpenCV. The code is the module `opencv`.

#include <brigade/contract.h>
#include "stages/image/targets_param.h"
#include "stages/opencv/opencv_operations.h"

namespace brigade {

struct OpenCvParams {
  enum class Layout : std::uint8_t { hwc, chw };

  opencv::Operations operations;
  Targets targets;
  std::int64_t pixels_max = kPicturePixelsMax;
  Layout layout = Layout::hwc;
};

Contract<OpenCvParams> opencv_contract();

}  // namespace brigade
