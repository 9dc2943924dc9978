#pragma once

// GraphSpec -> ValidGraph: every name resolved, every parameter in
// range, every port's type known, or a diagnostic for each mistake.
// Pure, except that it reads files through FileMetadataReader.
//
// The steps, each in a separate file, in this order: plugins, types, sources, order,
// params, ports, labels, batches, shared tensors, policies. A step skips what an
// earlier one could not resolve, so that one mistake is not reported several times.

#include <optional>
#include <string>

#include "pipeline/config/graph/file_metadata_reader.h"
#include "pipeline/config/graph/plugin_reader.h"
#include "pipeline/config/graph/valid_graph.h"
#include "pipeline/config/language/graph_spec.h"
#include "pipeline/config/yaml/diagnostics.h"

namespace brigade {

class StageDescriber;

/// What validation knows besides the text.
struct ValidateContext {
  const SourceText& source;
  const StageTypes& types;  ///< must outlive the graph
  FileMetadataReader& metadata;
  std::string working_directory;        ///< absolute
  PluginReader* plugins = nullptr;      ///< null: a graph that names one is refused
  StageDescriber* describer = nullptr;  ///< null: a graph with a Python stage is refused
};

/// Nothing if there are errors (also those found before).
std::optional<ValidGraph> validate_graph(const GraphSpec& spec, const ValidateContext& context,
                                         Diagnostics& diagnostics);

}  // namespace brigade
