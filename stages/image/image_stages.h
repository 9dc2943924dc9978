#pragma once

// Stage types for images that need no image library and therefore are in the
// core. One function per type, one file per function; the list is at the end.

#include <brigade/stage_types.h>

namespace brigade {

void add_idx_images(StageTypes& types);     ///< producer: images and labels of IDX files
void add_image_folder(StageTypes& types);   ///< producer: paths and labels of a folder per class
void add_tar_shards(StageTypes& types);     ///< producer: places of images in tar archives, labels
void add_cifar_binary(StageTypes& types);   ///< producer: images and labels of CIFAR's files
void add_image_list(StageTypes& types);     ///< producer: paths and labels of a table
void add_augment_image(StageTypes& types);  ///< transform: pad, crop and flip at random
void add_augment(StageTypes& types);        ///< transform: a list of operations on pictures
void add_mix_batch(StageTypes& types);      ///< transform: mixup, CutMix, one-hot labels

/// All of them, in the order in which `brigade stages` lists them.
inline void add_image_stages(StageTypes& types) {
  add_idx_images(types);
  add_image_folder(types);
  add_image_list(types);
  add_tar_shards(types);
  add_cifar_binary(types);
  add_augment_image(types);
  add_augment(types);
  add_mix_batch(types);
}

}  // namespace brigade
