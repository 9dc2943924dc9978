#pragma once

// Which members of a tar archive in the WebDataset layout are images and labels: a guess from the
// first ones.

#include <string>

#include <brigade/result.h>

namespace brigade {

struct ArchiveGuess {
  std::string image;        ///< extension of images, where `tar_shards` has to be told; else empty
  std::string label;        ///< extension of labels; empty: none
  std::string label_field;  ///< of JSON
  bool label_is_name = false;
};

/// Errors begin with the path: what is no archive; one without images in this layout.
Result<ArchiveGuess> look_at_archive(const std::string& path);

}  // namespace brigade
