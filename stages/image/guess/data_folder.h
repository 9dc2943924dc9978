#pragma once

// The kind of data in a folder or file, as `brigade init` recognizes it: IDX files, a
// folder of images per class (in folders for training and evaluation, or not), tar
// archives in the WebDataset layout, a table of images or of numbers. It reads names,
// and the beginning of one archive or table; never all of a large folder. Any thread.

#include <cstdint>
#include <string>
#include <vector>

#include <brigade/result.h>

namespace brigade {

/// What was recognised; paths are as they will stand in the YAML, below `folder`.
struct FoundData {
  enum class Kind { nothing, idx, classes, shards, list, numbers } kind = Kind::nothing;
  std::string folder;  ///< absolute

  // idx
  std::string images;
  std::string labels;       ///< empty where there is none
  std::string test_images;  ///< empty where there is none
  std::string test_labels;

  // classes: folders, empty for `folder` itself; shards: wildcards; list: `test` alone, a table
  std::string train;
  std::string test;                  ///< empty where there is none, or none that fits
  std::vector<std::string> classes;  ///< of what is listed, whoever has counted says them

  // shards: extensions of members; list, numbers: columns
  std::string image;
  std::string label;  ///< empty where there is none
  std::string label_field;

  bool label_is_name = false;
  std::size_t class_count = 0;  ///< whoever has counted says it; 0: not known
  std::uint64_t samples = 0;    ///< to train on, likewise

  // list, numbers
  std::string table;
  std::string root;  ///< of a list's paths, empty: `folder`
  std::vector<std::string> features;
  std::string separator = ",";
  bool header = true;

  std::string remark;  ///< what is there and not used, and why
};

/// Errors, each a line that says what is missing: nothing that is known, a folder that cannot be
/// read, images without folders of classes, archives that are compressed, a class without images.
Result<FoundData> look_at_data(const std::string& path);

}  // namespace brigade
