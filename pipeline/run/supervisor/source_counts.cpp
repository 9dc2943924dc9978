#include "pipeline/run/supervisor/source_counts.h"

#include <algorithm>

namespace brigade {

SourceCounts::SourceCounts(const Plan& plan)
    : plan_(plan), by_replica_(ReplicaTable(plan).size()) {}

void SourceCounts::ready(int replica, std::optional<std::uint64_t> samples,
                         const std::vector<SkippedInputs>& skipped) {
  by_replica_[replica] = {"", samples, skipped};
}

void SourceCounts::begin(const std::vector<IndexSpaceStart>& starts) {
  for (const PlanStage& stage : plan_.stages) {
    if (!stage.is_cache() || !stage.limit.any()) continue;
    const IndexSpaceNumber number = stage.queues[1].index_space;
    const PlanIndexSpace& above = plan_.index_spaces[number];
    for (const IndexSpaceStart& start : starts) {
      if (start.index_space != (above.above < 0 ? number : above.above)) continue;
      const std::uint64_t found = start.samples * above.fan_out;
      const Subset kept(stage, stage.seed, found);
      caches_.push_back({stage.name, kept.size(), left_out(stage, kept, kept.size(), {})});
    }
  }
}

std::vector<SourceAudit> SourceCounts::audits() const {
  std::vector<SourceAudit> audits;
  for (const PlanStage& stage : plan_.stages) {
    if (stage.kind != StageKind::producer) continue;
    SourceAudit audit;
    for (int r = stage.replicas - 1; r >= 0; --r) {
      const SourceAudit& found = by_replica_[stage.first_replica + r];
      if (found.gives) audit = found;
    }
    audit.name = stage.name;
    audit.drawn = is_drawn(stage);
    audits.push_back(std::move(audit));
  }
  audits.insert(audits.end(), caches_.begin(), caches_.end());
  return audits;
}

void SourceCounts::say(RunOutput& lines) const {
  for (const SourceAudit& audit : audits()) {
    if (audit.skipped.empty()) continue;
    lines.tell({.level = is_surprising(audit) ? EventLevel::warning : EventLevel::info,
                .stage = audit.name,
                .message = source_text(audit)});
  }
}

}  // namespace brigade
