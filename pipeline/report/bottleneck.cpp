#include "pipeline/report/bottleneck.h"

#include <algorithm>

#include <brigade/text.h>
#include "base/units.h"

namespace brigade {
namespace {

double since(std::uint64_t before, std::uint64_t after) {
  return after > before ? static_cast<double>(after - before) : 0;
}

/// A stage that was there for a smaller share of the time held nobody up for long.
constexpr double kLivedMin = 0.25;

/// Of one replica on average.
double lived_ns(const StageFigures& before, const StageFigures& after) {
  return (since(before.busy_ns, after.busy_ns) + since(before.wait_in_ns, after.wait_in_ns) +
          since(before.wait_out_ns, after.wait_out_ns) +
          since(before.wait_other_ns, after.wait_other_ns)) /
         std::max(after.replicas, 1);
}

std::string advice(const StageFigures& stage, const StageShares& shares) {
  if (stage.kind == StageKind::consumer) return "the pipeline keeps up";
  if (shares.busy < 0.8) return "it also waits: check the stages next to it";
  if (stage.one_replica) return "it can only have one replica: move work to other stages";
  return concat("raising `replicas:` may help (now ", stage.replicas, ")");
}

}  // namespace

StageShares time_shares(const StageFigures& before, const StageFigures& after) {
  StageShares shares{since(before.busy_ns, after.busy_ns),
                     since(before.wait_in_ns, after.wait_in_ns),
                     since(before.wait_out_ns, after.wait_out_ns),
                     since(before.wait_other_ns, after.wait_other_ns)};
  const double total = shares.busy + shares.wait_in + shares.wait_out + shares.wait_other;
  if (total <= 0) return {};
  shares.busy /= total;
  shares.wait_in /= total;
  shares.wait_out /= total;
  shares.wait_other /= total;
  return shares;
}

StageShares time_shares(const StageFigures& figures) { return time_shares({}, figures); }

std::optional<Bottleneck> find_bottleneck(const RunFigures& before, const RunFigures& after) {
  const StageFigures none;
  const auto start_of = [&](StageNumber s) -> const StageFigures& {
    return before.stages.has(s) ? before.stages[s] : none;
  };
  double longest_ns = 0;
  for (const StageNumber s : after.stages.numbers())
    longest_ns = std::max(longest_ns, lived_ns(start_of(s), after.stages[s]));
  std::optional<Bottleneck> worst;
  for (const StageNumber s : after.stages.numbers()) {
    if (lived_ns(start_of(s), after.stages[s]) < kLivedMin * longest_ns) continue;
    const StageShares shares = time_shares(start_of(s), after.stages[s]);
    if (shares.busy < kBusyMin || (worst && shares.busy <= worst->shares.busy)) continue;
    worst = Bottleneck{s, shares};
  }
  return worst;
}

std::string bottleneck_text(const RunFigures& figures, const Bottleneck& bottleneck) {
  const StageFigures& stage = figures.stages[bottleneck.stage];
  return concat(stage.name, " (busy ", format_percentage(bottleneck.shares.busy),
                "): ", advice(stage, bottleneck.shares));
}

}  // namespace brigade
