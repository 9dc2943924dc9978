#pragma once

// The summary of a run, for people (the last lines of `brigade run`) and for programs
// (`--summary FILE`, whose fields scripts rely on). Pure: data in, text out.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pipeline/plan/plan.h"
#include "pipeline/report/audit.h"
#include "pipeline/report/figures.h"
#include "pipeline/report/results.h"
#include "pipeline/report/source_audit.h"

namespace brigade {

struct RunSummary {
  RunFigures figures;                          ///< at the end
  double start_seconds = 0;                    ///< from exec to all stages ready
  double seconds = 0;                          ///< from then to all work done
  std::optional<double> first_sample_seconds;  ///< from exec to the first row handed to a consumer
  std::vector<SourceAudit> sources;
  std::vector<NamedEdgeAudit> edges;
  std::vector<std::pair<std::string, std::vector<StageResult>>> results;  ///< by stage
};

enum class SummaryDetail : std::uint8_t {
  results,  ///< what the stages report, and nothing else
  usual,    ///< edges where a sample was not delivered, otherwise that there are none
  edges     ///< every edge's audit
};

/// Several lines, each ending in a newline: a table of the stages, the bottleneck, the sources that
/// skip something, the edges, the results.
std::string summary_text(const Plan& plan, const RunSummary& summary,
                         SummaryDetail detail = SummaryDetail::usual);

/// One JSON object: end, failure, samples, start_seconds, seconds, samples_per_second,
/// first_sample_seconds, epochs, stages, sources, edges, results. `end`: "done", "stopped" or
/// "failed"; `failure`: why it failed.
std::string summary_json(const RunSummary& summary, std::string_view end,
                         const std::string& failure);

}  // namespace brigade
