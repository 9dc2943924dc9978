#include "stages/builtin.h"

#include "stages/basic/basic_stages.h"
#include "stages/cuda/cuda_stages.h"
#include "stages/device/device_stages.h"
#include "stages/image/decode_image_contract.h"
#include "stages/image/image_stages.h"
#include "stages/torch/torch_classifier_contract.h"

namespace brigade {

StageTypes builtin_stage_types() {
  StageTypes types;
  add_synthetic(types);
  add_npy(types);
  add_csv(types);
  add_lines(types);
  add_passthrough(types);
  add_repack(types);
  add_merge(types);
  add_repeat(types);
  add_cache(types);
  add_cached(types);
  add_delay(types);
  add_count(types);
  add_to_device(types);
  add_from_device(types);
  add_application(types);
  add_idx_images(types);
  add_image_folder(types);
  add_image_list(types);
  add_tar_shards(types);
  add_cifar_binary(types);
  add_augment_image(types);
  add_augment(types);
  add_mix_batch(types);
  add_normalize_image(types);
  types.add_from_module(decode_image_contract(), "image");
  types.add_from_module(torch_classifier_contract(), "torch");
  return types;
}

}  // namespace brigade
