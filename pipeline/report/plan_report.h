#pragma once

// The output of `brigade plan --json`: the plan, and the known facts of an epoch
// before the run. Reading it as a plan (plan_json.h) gives the plan. Pure function.

#include <string>
#include <vector>

#include "base/build_facts.h"
#include "pipeline/config/language/shard.h"
#include "pipeline/plan/consumer_epochs.h"
#include "pipeline/report/source_audit.h"

namespace brigade {

/// Beside the plan's own fields "sources", as in a summary, "consumers", with the samples and
/// batches of an epoch (null: not known before the run, for the reason in "unknown"), "ranks":
/// where rank and world come from, and "libraries": by module, as of packages_of()
/// (plan/libraries.h).
std::string plan_report(const Plan& plan, const std::vector<SourceAudit>& sources,
                        const std::vector<ConsumerEpoch>& consumers, const RankOrigin& ranks,
                        const std::vector<PackageFacts>& packages = {});

}  // namespace brigade
