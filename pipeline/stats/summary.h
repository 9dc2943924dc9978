#pragma once

// What a run amounted to, for people (the last lines of `brigade run`) and for programs
// (`--summary FILE`, whose fields scripts rely on). Pure: data in, text out.

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pipeline/plan/plan.h"
#include "pipeline/stats/audit.h"
#include "pipeline/stats/figures.h"
#include "pipeline/stats/results.h"
#include "pipeline/stats/source_audit.h"

namespace brigade {

struct RunSummary {
  RunFigures figures;                          ///< at the end
  double seconds = 0;                          ///< from all stages ready to all work done
  std::optional<double> first_sample_seconds;  ///< from exec to the first row handed to a consumer
  std::vector<SourceAudit> sources;
  std::vector<NamedEdgeAudit> edges;
  std::vector<std::pair<std::string, std::vector<StageResult>>> results;  ///< by stage
};

/// Several lines, each ending in a newline: a table of the stages, the bottleneck, the sources that
/// skip something, every edge's audit, the results.
std::string summary_text(const Plan& plan, const RunSummary& summary);

/// One JSON object: end, failure, samples, seconds, samples_per_second, first_sample_seconds,
/// epochs, stages, sources, edges, results. `end`: "done", "stopped" or "failed"; `failure`: why it
/// failed.
std::string summary_json(const RunSummary& summary, std::string_view end,
                         const std::string& failure);

}  // namespace brigade
