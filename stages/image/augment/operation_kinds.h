#pragma once

// The rows of all operations, by kind: one function and one file each.

#include <vector>

#include "stages/image/augment/operation.h"

namespace brigade {

void add_cuts(std::vector<OperationType>& types);        ///< pad, crops, flips
void add_resizes(std::vector<OperationType>& types);     ///< of all, of a random part
void add_warps(std::vector<OperationType>& types);       ///< rotation, affine, perspective
void add_colors(std::vector<OperationType>& types);      ///< colours of each pixel by itself
void add_histograms(std::vector<OperationType>& types);  ///< autocontrast, equalize
void add_filters(std::vector<OperationType>& types);     ///< blur, sharpness
void add_erasing(std::vector<OperationType>& types);     ///< random_erasing
void add_policies(std::vector<OperationType>& types);    ///< rand_augment, trivial_augment_wide

}  // namespace brigade
