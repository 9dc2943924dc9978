#include "stages/builtin.h"

#include "stages/basic/basic_stages.h"
#include "stages/cuda/cuda_stages.h"
#include "stages/device/device_stages.h"
#include "stages/image/decode_image_contract.h"
#include "stages/image/image_stages.h"
#include "stages/opencv/opencv_contract.h"
#include "stages/torch/torch_classifier_contract.h"

namespace brigade {

StageTypes builtin_stage_types() {
  StageTypes types;
  add_basic_stages(types);
  add_device_stages(types);
  add_image_stages(types);
  add_normalize_image(types);
  types.add_from_module(decode_image_contract(), "image");
  types.add_from_module(opencv_contract(), "opencv");
  types.add_from_module(torch_classifier_contract(), "torch");
  return types;
}

}  // namespace brigade
