#pragma once

// A first graph for somebody's data: `brigade init`. What lies in a folder decides: IDX files,
// folders of images, or nothing that is known, which gives a graph to try things out with. The text
// is pure data in, YAML with comments out; looking at the folder is a function of its own.

#include <string>
#include <vector>

#include <brigade/result.h>
#include <brigade/stage_types.h>

namespace brigade {

/// What was recognised in a folder; paths as they will stand in the YAML.
struct FoundData {
  enum class Kind { nothing, idx, images } kind = Kind::nothing;
  std::string folder;       ///< absolute
  std::string images;       ///< idx: file names in `folder`
  std::string labels;       ///< idx: empty where there is none
  std::string test_images;  ///< idx: empty where there is none
  std::string test_labels;
};

/// An error when the folder cannot be read.
Result<FoundData> look_at_folder(const std::string& folder);

/// What was found, for a message: "IDX files (train-images-idx3-ubyte.gz, ...)", "images".
std::string found_text(const FoundData& data);

/// Whether graph_template() reads the data; if not, it makes samples up.
bool can_read(const FoundData& data, const StageTypes& types);

/// A commented graph that `brigade check` accepts. `name`: of the graph. `types`: what there is to
/// build it from; `can_train`: torch_classifier can run here.
std::string graph_template(const std::string& name, const FoundData& data, const StageTypes& types,
                           bool can_train);

}  // namespace brigade
