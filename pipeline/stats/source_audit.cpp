#include "pipeline/stats/source_audit.h"

#include <algorithm>

#include <brigade/text.h>
#include "pipeline/plan/caches.h"

namespace brigade {
namespace {

std::uint64_t all_skipped(const SourceAudit& audit) {
  std::uint64_t sum = 0;
  for (const SkippedInputs& skipped : audit.skipped) sum += skipped.count;
  return sum;
}

}  // namespace

std::vector<SkippedInputs> left_out(std::uint64_t found, std::uint64_t limited, std::uint64_t given,
                                    const Shard& shard) {
  std::vector<SkippedInputs> out;
  const auto add = [&](SkipReason why, std::uint64_t count, const char* text) {
    if (count > 0) out.push_back({why, count, text});
  };
  const std::uint64_t others = limited - given;
  const std::uint64_t rest = shard.uneven == Uneven::drop ? limited - given * shard.world : 0;
  add(SkipReason::limit, found - limited, "behind `limit:`");
  add(SkipReason::ranks, others - rest, "for the other ranks");
  add(SkipReason::uneven, rest, "that ranks cannot share evenly (`uneven: drop`)");
  return out;
}

std::vector<SourceAudit> known_sources(const ValidGraph& graph, const Plan& plan) {
  std::vector<SourceAudit> known;
  for (const StageNumber s : plan.stages.numbers()) {
    const ValidStage& stage = graph.stages[s];
    const std::uint64_t gives = samples_of(graph, plan, s);
    if (gives == 0) continue;
    if (plan.stages[s].is_cache()) {
      const std::uint64_t found = samples_of(graph, plan, stage.sources.front().stage);
      known.push_back({stage.name, gives, left_out(found, gives, gives, {})});
    } else if (stage.sources.empty()) {
      const std::uint64_t limited =
          stage.limit == 0 ? stage.samples : std::min(stage.samples, stage.limit);
      known.push_back({stage.name, gives, left_out(stage.samples, limited, gives, plan.shard)});
    }
  }
  return known;
}

std::optional<std::uint64_t> found_by(const SourceAudit& audit) {
  if (!audit.gives) return std::nullopt;
  return *audit.gives + all_skipped(audit);
}

std::string skipped_text(const SourceAudit& audit) {
  std::vector<std::string> reasons;
  for (const SkippedInputs& skipped : audit.skipped)
    reasons.push_back(concat(format_count(skipped.count), " ", skipped.text));
  return join(reasons, ", ");
}

std::string source_text(const SourceAudit& audit) {
  if (!audit.gives) return concat("source ", audit.name, ": a stream");
  return concat("source ", audit.name, ": found ", format_count(*found_by(audit)), ", gives ",
                format_count(*audit.gives), ", skipped ", format_count(all_skipped(audit)),
                audit.skipped.empty() ? "" : ": ", skipped_text(audit));
}

bool is_surprising(const SourceAudit& audit) {
  return std::any_of(audit.skipped.begin(), audit.skipped.end(),
                     [](const SkippedInputs& skipped) { return is_surprising(skipped.why); });
}

}  // namespace brigade
