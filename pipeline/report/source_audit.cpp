#include "pipeline/report/source_audit.h"

#include <algorithm>
#include <cmath>

#include <brigade/text.h>
#include "base/printable.h"
#include "pipeline/config/language/weights_parser.h"
#include "pipeline/plan/caches.h"

namespace brigade {
namespace {

std::uint64_t all_skipped(const SourceAudit& audit) {
  std::uint64_t sum = 0;
  for (const SkippedInputs& skipped : audit.skipped) sum += skipped.count;
  return sum;
}

/// Two digits behind the point, at most.
std::string rounded(double number) { return concat(print_number(std::round(number * 100) / 100)); }

/// "70% from photos (700, each 3.5 times), 30% from drawings".
std::string mixed_text(const ValidStage& mix, std::uint64_t seed,
                       std::optional<std::uint64_t> gives) {
  double sum = 0;
  for (const auto& [name, share] : mix.mix.shares) sum += share;
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < mix.parts.size(); ++i) {
    const double share = mix.mix.shares[i].second / sum;
    const std::uint64_t read = read_of(mix.parts[i], seed);
    const double samples = share * static_cast<double>(gives.value_or(0));
    std::string amount =
        gives ? format_count(static_cast<std::uint64_t>(std::llround(samples))) : "";
    if (gives && read != 0 && !is_drawn(mix.parts[i]))
      amount += concat(", each ", rounded(samples / static_cast<double>(read)), " times");
    texts.push_back(concat(rounded(share * 100), "% from ", mix.parts[i].name,
                           amount.empty() ? "" : concat(" (", amount, ")")));
  }
  return join(texts, ", ");
}

}  // namespace

std::vector<SkippedInputs> left_out(const StageKeys& keys, const Subset& subset,
                                    std::uint64_t given, const Shard& shard) {
  std::vector<SkippedInputs> out;
  const auto add = [&](SkipReason why, std::uint64_t count, const char* text) {
    if (count > 0) out.push_back({why, count, text});
  };
  const std::uint64_t others = is_drawn(keys) ? 0 : subset.size() - given;
  const std::uint64_t rest =
      shard.uneven == Uneven::drop && !is_drawn(keys) ? subset.size() - given * shard.world : 0;
  add(SkipReason::skip, subset.skipped(), "skipped by `skip:`");
  add(SkipReason::split, subset.in_other_parts(), "in other parts of `split:`");
  add(SkipReason::limit, subset.behind_limit(),
      keys.take == Take::first ? "beyond `limit:`" : "omitted by `limit:`");
  add(SkipReason::ranks, others - rest, "for the other ranks");
  add(SkipReason::uneven, rest, "left over after division among the ranks (`uneven: drop`)");
  return out;
}

void add_skipped(std::vector<SkippedInputs>& all, const std::vector<SkippedInputs>& by_source) {
  for (const SkippedInputs& one : by_source)
    if (one.count > 0 && all.size() < kSkipReasonsMax)
      all.push_back({one.why, one.count, printable(one.text.substr(0, kSkipTextBytesMax))});
}

std::vector<SourceAudit> planned_sources(const ValidGraph& graph, const Plan& plan) {
  std::vector<SourceAudit> sources;
  for (const StageNumber s : plan.stages.numbers()) {
    const ValidStage& stage = graph.stages[s];
    const bool cache = plan.stages[s].is_cache();
    if (!cache && !stage.sources.empty()) continue;
    SourceAudit& audit = sources.emplace_back(SourceAudit{stage.name, {}, {}});
    const std::uint64_t gives = samples_of(graph, plan, s);
    if (gives != 0) audit.gives = gives;
    audit.mixed = mixed_text(stage, plan.stages[s].seed, audit.gives);
    if (gives == 0) continue;
    audit.drawn = is_drawn(stage);
    const std::uint64_t found =
        cache ? samples_of(graph, plan, stage.sources.front().stage) : stage.samples;
    audit.skipped = left_out(stage, Subset(stage, 0, found), gives, cache ? Shard() : plan.shard);
    add_skipped(audit.skipped, stage.skipped);
    for (const ValidStage& part : stage.parts) {
      const Subset read(part, plan.stages[s].seed, part.samples);
      add_skipped(audit.skipped, left_out(part, read, read.size(), {}));
      add_skipped(audit.skipped, part.skipped);
    }
  }
  return sources;
}

std::optional<std::uint64_t> found_by(const SourceAudit& audit) {
  if (!audit.gives || audit.drawn) return std::nullopt;
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
  const auto found = found_by(audit);
  return concat(
      "source ", audit.name, found ? concat(": found ", format_count(*found), ",") : ":",
      " outputs ", format_count(*audit.gives), audit.drawn ? " by weight, skipped " : ", skipped ",
      format_count(all_skipped(audit)), audit.skipped.empty() ? "" : ": ", skipped_text(audit));
}

bool is_surprising(const SourceAudit& audit) {
  return std::any_of(audit.skipped.begin(), audit.skipped.end(),
                     [](const SkippedInputs& skipped) { return is_surprising(skipped.why); });
}

}  // namespace brigade
