#pragma once

// From files to a validated graph: the one entry point of this
// layer, for `run`, `check`, `plan` and embedding programs.
//
//   LoadedGraph loaded = load_graph({.files = {"train.yaml"}, .sets = {"epochs=5"}, .types = types,
//                                    .metadata = metadata, .environment = ..., .working_directory =
//                                    cwd});
//   std::cerr << loaded.messages();          // warnings, or all mistakes
//   if (!loaded.graph) return 2;
//
// Reads the YAML files and, through `metadata`, the parts of the data that
// contracts request. Throws nothing. Takes milliseconds on the caller's thread.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <brigade/export.h>
#include "pipeline/config/graph/file_metadata_reader.h"
#include "pipeline/config/graph/plugin_reader.h"
#include "pipeline/config/graph/valid_graph.h"
#include "pipeline/config/language/shard.h"
#include "pipeline/config/yaml/diagnostics.h"
#include "pipeline/config/yaml/variables.h"
#include "pipeline/config/yaml/yaml_tree.h"

namespace brigade {

class StageDescriber;

struct LoadOptions {
  std::vector<std::string> files;    ///< paths as the user gave them; later ones lie over earlier
  std::vector<std::string> sets;     ///< of `--set`: "stages.augment.replicas=4"
  std::optional<SampleLimit> limit;  ///< of `--limit`: on every producer that reads by index
  const StageTypes& types;           ///< must outlive the graph
  FileMetadataReader& metadata;
  Environment environment;              ///< for ${NAME}; none: no variables but those of `vars:`
  std::string working_directory;        ///< absolute
  PluginReader* plugins = nullptr;      ///< null: a graph that names one is refused
  StageDescriber* describer = nullptr;  ///< null: a graph with a Python stage is refused
  std::vector<SourceFile> texts =
      {};  ///< laid over the files; without a folder, their paths are relative to the working one
  std::optional<std::vector<std::string>> read = {};  ///< all that the program reads of the graph
  std::optional<ProgramRank> rank = {};               ///< of a program that tells of it
  bool may_lack_consumers = false;                    ///< then a program reads what no stage reads
};

struct LoadedGraph {
  std::optional<ValidGraph> graph;  ///< nothing when there are errors
  Diagnostics diagnostics;
  SourceText source;
  RankOrigin ranks;  ///< of the graph's shard
  YamlNode tree;     ///< the files merged, variables expanded; for tools that show what was read
  std::vector<std::string> read;  ///< what a program reads, where the graph was cut to that

  /// All diagnostics for people; empty when there are none.
  BRIGADE_API std::string messages() const;
};

BRIGADE_API LoadedGraph load_graph(const LoadOptions& options);

/// The same with texts in hand instead of `options.files`; their names need not exist.
BRIGADE_API LoadedGraph load_graph(std::vector<SourceFile> texts, const LoadOptions& options);

/// The process's own environment and working directory, for callers that run as a command.
BRIGADE_API Environment process_environment();
BRIGADE_API std::string process_working_directory();

}  // namespace brigade
