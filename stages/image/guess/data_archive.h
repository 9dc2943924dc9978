#pragma once

// Guesses from the first members of tar archives in the WebDataset
// layout which are images and labels, and whether a run can read them.

#include <string>

#include <brigade/result.h>
#include <brigade/stage_contract.h>

namespace brigade {

struct ArchiveGuess {
  std::string image;        ///< extension of images, where `tar_shards` has to be told; else empty
  std::string label;        ///< extension of labels; empty: none
  std::string label_field;  ///< of JSON
  bool label_is_name = false;
};

/// Errors begin with the path: what is no archive; one without images in this layout.
Result<ArchiveGuess> look_at_archive(const std::string& path);

/// What a run of `tar_shards` with these parameters would end with, where its first members leave
/// no doubt: an archive that cannot be read; no samples, where there are no more members. With
/// `reads_all` (no sample is left out, and none that cannot be read is skipped) a label that is no
/// number. Errors begin with an archive's path.
/// Other types of stages pass.
Result<void> check_first_members(const StageContract& contract, const void* params, bool reads_all);

}  // namespace brigade
