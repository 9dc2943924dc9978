#pragma once

// Opens plugins (brigade/plugin.h): shared libraries that bring stage types. The commands
// open those that a graph names, for their contracts; a worker opens the library that has
// its stage's contract and body, which is the plugin itself or the module beside it.
// Libraries are never closed: contracts and implementations are code in them. Any thread.

#include <string>

#include <brigade/result.h>
#include <brigade/stage_types.h>
#include "pipeline/config/graph/plugin_reader.h"
#include "pipeline/config/graph/valid_graph.h"

namespace brigade {

/// The stage types of the library at an absolute path. `module` of each is the absolute path of
/// the library that has contract and body. The error, to be read after the path: "is no plugin: it
/// has no symbol ...".
Result<StageTypes> open_plugin(const std::string& path);

/// An error where the library that has this stage type of a plugin is not there.
Result<void> check_library(const std::string& path, const std::string& type);

class PluginFiles final : public PluginReader {
 public:
  Result<StageTypes> read(const std::string& path) override { return open_plugin(path); }
};

/// Whether a stage type comes from a plugin.
inline bool is_of_plugin(const StageType& type) { return type.module.starts_with('/'); }

/// The program's stage types and those of the plugins that the graph names.
StageTypes types_of(const StageTypes& program, const ValidGraph& graph);

/// An error where `found`, the contract in `file`, is not the one with the hash `expected`, which
/// the graph was planned with.
Result<void> compare_contracts(const StageContract& found, std::uint64_t expected,
                               const std::string& file);

/// An error where the module of a plugin's stage type holds another contract for it.
Result<void> check_module_contract(const StageType& type);

}  // namespace brigade
