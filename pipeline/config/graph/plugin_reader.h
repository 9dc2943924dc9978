#pragma once

// The configuration layer's access to the stage types of plugins: the shared
// libraries that `plugin:` names. Contracts are code, so a plugin is opened to read
// them. The real implementation is pipeline/worker/plugin_loader; tests pass a fake.

#include <string>

#include <brigade/result.h>
#include <brigade/stage_types.h>

namespace brigade {

class PluginReader {
 public:
  virtual ~PluginReader() = default;

  /// The stage types of the plugin at an absolute path, where a file lies; `module` of each is a
  /// path. The error says, without the path, why it is none, or none for this program.
  virtual Result<StageTypes> read(const std::string& path) = 0;
};

}  // namespace brigade
