#include "pipeline/plan/planner/turns.h"

#include <utility>

#include "base/arithmetic.h"

namespace brigade {
namespace {

/// A stage that is read, and by what turn, if its reader takes turns.
struct Read {
  StageNumber stage;
  Turn by;
  bool in_turn = false;
  bool by_cache = false;  ///< which keeps samples as they come, whoever's turn it is
};

/// `reads`: in the order of their readers, the last first.
Turns turns_by(std::size_t stages, const std::vector<Read>& reads) {
  Turns turns(stages);
  ByStage<bool> seen(stages);
  for (const Read& read : reads) {
    std::optional<Turn> turn;
    if (!read.by_cache) turn = turns[read.by.reader];
    if (!turn && read.in_turn) turn = read.by;
    std::optional<Turn>& known = turns[read.stage];
    if (!seen[read.stage])
      known = turn;
    else if (known != turn)
      known.reset();
    seen[read.stage] = true;
  }
  return turns;
}

template <class Stages>
StageNumber last_of(const Stages& stages) {
  return StageNumber(static_cast<int>(stages.size()) - 1);
}

}  // namespace

Turns turns_of(const ValidGraph& graph) {
  std::vector<Read> reads;
  for (StageNumber s = last_of(graph.stages); s >= 0; --s) {
    const ValidStage& stage = graph.stages[s];
    for (std::size_t i = 0; i < stage.sources.size(); ++i)
      reads.push_back({stage.sources[i].stage,
                       {s, static_cast<int>(i)},
                       stage.join == Join::epochs && stage.sources.size() > 1,
                       stage.type->contract.cache});
  }
  return turns_by(graph.stages.size(), reads);
}

Turns turns_of(const Plan& plan) {
  std::vector<Read> reads;
  for (StageNumber s = last_of(plan.stages); s >= 0; --s) {
    const PlanStage& stage = plan.stages[s];
    int source = 0;
    for (const PlanQueue& queue : stage.queues)
      for (const PlanInput& input : queue.inputs)
        reads.push_back({input.stage, {s, source++}, stage.join == Join::epochs, stage.is_cache()});
  }
  return turns_by(plan.stages.size(), reads);
}

Busiest busiest(const Turns& turns, const ByStage<std::uint64_t>& wanted) {
  std::vector<std::pair<Turn, std::uint64_t>> sums;
  const auto sum_of = [&](const Turn& turn) -> std::uint64_t& {
    for (auto& [known, sum] : sums)
      if (known == turn) return sum;
    return sums.emplace_back(turn, 0).second;
  };
  for (const StageNumber s : turns.numbers())
    if (turns[s]) sum_of(*turns[s]) = add_saturating(sum_of(*turns[s]), wanted[s]);
  const auto works = [&](const Turn& turn) {
    const std::uint64_t mine = sum_of(turn);
    for (const auto& [other, sum] : sums) {
      if (other.reader != turn.reader) continue;
      if (sum > mine || (sum == mine && other.source < turn.source)) return false;
    }
    return true;
  };
  Busiest out{0, ByStage<bool>(turns.size())};
  for (const StageNumber s : turns.numbers()) {
    out.stages[s] = !turns[s] || works(*turns[s]);
    if (out.stages[s]) out.sum = add_saturating(out.sum, wanted[s]);
  }
  return out;
}

}  // namespace brigade
