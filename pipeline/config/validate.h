#pragma once

// GraphSpec -> ValidGraph: every name resolved, every parameter in range, every port's type known,
// or a diagnostic for each mistake. Pure, except that files are looked at through FactsReader.
//
// The steps, each in a file of its own, in this order: plugins, types, sources, order, params,
// ports, batches, policies. A step skips what an earlier one could not resolve, so that one mistake
// does not drag a train of others behind it.

#include <optional>
#include <string>

#include "pipeline/config/diagnostics.h"
#include "pipeline/config/facts_reader.h"
#include "pipeline/config/graph_spec.h"
#include "pipeline/config/plugin_reader.h"

namespace brigade {

/// What validation knows besides the text.
struct ValidateContext {
  const SourceText& source;
  const StageTypes& types;  ///< must outlive the graph
  FactsReader& facts;
  std::string working_directory;    ///< absolute
  PluginReader* plugins = nullptr;  ///< null: a graph that names one is refused
};

/// Nothing if there are errors (also those found before).
std::optional<ValidGraph> validate_graph(const GraphSpec& spec, const ValidateContext& context,
                                         Diagnostics& diagnostics);

}  // namespace brigade
