#pragma once

// From the user's YAML files to a plan for this machine, with all
// diagnostics: the first step of commands and embedding programs.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <brigade/stage_types.h>
#include "pipeline/config/validate/load_graph.h"
#include "pipeline/plan/consumer_epochs.h"
#include "pipeline/plan/plan.h"
#include "pipeline/plan/planner/machine_limits.h"
#include "pipeline/report/source_audit.h"

namespace brigade {

struct GraphDiagnostic;

/// Which graph: files in the order in which they are laid over each other, and what is set on top.
struct GraphFiles {
  std::vector<std::string> files;
  std::vector<std::string> sets;       ///< KEY=VALUE
  std::optional<SampleLimit> limit;    ///< of every indexed producer
  std::vector<SourceFile> texts = {};  ///< over the files; relative to the working directory
  std::optional<std::vector<std::string>> read = {};  ///< all that the program reads of the graph
  bool may_lack_consumers = false;                    ///< then a program reads what no stage reads
  StageDescriber* describer = nullptr;                ///< null: each Python stage is asked anew
  std::optional<ProgramRank> rank = {};               ///< of a program that tells of it
  bool count = false;  ///< sources are opened that do not tell how many samples they have
};

/// Reads and proves the files, with this process's environment and working directory. `types`
/// outlive the result.
LoadedGraph load_files(const GraphFiles& files, const StageTypes& types);

struct PlannedGraph {
  LoadedGraph loaded;
  MachineLimits limits;
  std::optional<Plan> plan;              ///< nothing after mistakes
  std::vector<SourceAudit> sources;      ///< of that plan
  std::vector<ConsumerEpoch> consumers;  ///< of that plan
  Diagnostics problems;                  ///< of planning; those before it are in `loaded`
  std::string messages;  ///< mistakes and warnings for people; ends in a newline unless empty
};

/// The same, then plans for this machine.
PlannedGraph plan_files(const GraphFiles& files, const StageTypes& types);

/// Mistakes and warnings of the text and of the plan, each in the order of their places.
std::vector<GraphDiagnostic> diagnostics_of(const PlannedGraph& planned);

/// Of one that could not be planned: every mistake, a few lines each; `found` gets the list.
Error mistakes_of(const PlannedGraph& planned, std::vector<GraphDiagnostic>* found);

}  // namespace brigade
