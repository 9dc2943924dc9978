#include "pipeline/plan/zipped_sources.h"

#include <utility>

#include <brigade/text.h>
#include "base/units.h"
#include "pipeline/plan/subset.h"

namespace brigade {
namespace {

/// The samples of a cache lie as those of the source above it, of which it takes the first.
const PlanStage& read_source(const Plan& plan, StageNumber number) {
  const PlanStage* source = &plan.stages[number];
  while (source->is_cache())
    source = &plan.stages[plan.index_spaces[source->queues[1].index_space].sources.front()];
  return *source;
}

/// Samples that a source's cache keeps for each of its own.
std::uint64_t fan_out_of(const Plan& plan, StageNumber number) {
  std::uint64_t fan_out = 1;
  for (const PlanStage* stage = &plan.stages[number]; stage->is_cache();) {
    const PlanIndexSpace& above = plan.index_spaces[stage->queues[1].index_space];
    fan_out *= above.fan_out;
    stage = &plan.stages[above.sources.front()];
  }
  return fan_out;
}

/// A cache's file that is read again: what was read to make it, only the graph that made it says.
bool is_kept(const PlanStage& source) { return source.type == "cached" && is_front(source); }

/// Sources that give what lies in them from some sample on may begin at different ones: one of two
/// files may have a row more at its beginning.
bool gives_neighbours(const PlanStage& source) {
  return source.split.shares.empty() && !is_spread(source);
}

bool read_alike(const PlanStage& a, const PlanStage& b) {
  if (gives_neighbours(a) && gives_neighbours(b)) return true;
  if (a.skip != b.skip || a.split != b.split || a.part != b.part) return false;
  if (is_spread(a) != is_spread(b)) return false;
  return !is_spread(a) || (a.limit == b.limit && a.seed == b.seed);
}

std::string both(const PlanStage& first, const PlanStage& second) {
  return concat("zipped sources read different samples: ", quote(first.name), " and ",
                quote(second.name));
}

}  // namespace

std::optional<ZippedMismatch> mismatch_of_zipped(const Plan& plan, IndexSpaceNumber index_space,
                                                 const FoundSamples& found) {
  StageNumber first = -1;
  for (const StageNumber number : plan.index_spaces[index_space].sources) {
    const PlanStage& source = read_source(plan, number);
    if (is_kept(source)) continue;
    if (first < 0) {
      first = number;
      continue;
    }
    const PlanStage& other = read_source(plan, first);
    const bool neighbours = gives_neighbours(source) && gives_neighbours(other);
    if (!read_alike(other, source) ||
        (!neighbours && fan_out_of(plan, first) != fan_out_of(plan, number)))
      return ZippedMismatch{
          number,
          concat(both(plan.stages[first], plan.stages[number]),
                 " choose them in different ways, so that they would not fit each other"),
          "write the same `split:`, `part:`, `skip:`, `limit:`, `take:` and `seed:` at each; to "
          "make a larger source shorter, `limit: N` with `take: first`"};
    const std::uint64_t of_first = found[plan.stages.number_of(other)];
    const std::uint64_t of_this = found[plan.stages.number_of(source)];
    if (neighbours || of_first == 0 || of_this == 0 || of_first == of_this) continue;
    return ZippedMismatch{
        number,
        concat(both(plan.stages[first], plan.stages[number]), " have ", format_samples(of_first),
               " and ", format_samples(of_this),
               " to choose from, so that what is chosen would not fit each other"),
        "make the sources equally large, or read the front of each: `limit: N` with `take: first`, "
        "without `split:`"};
  }
  return std::nullopt;
}

void check_zipped_sources(const ValidGraph& graph, const Plan& plan, PlanProblems& problems) {
  FoundSamples found(plan.stages.size());
  for (const StageNumber s : plan.stages.numbers())
    if (plan.stages[s].kind == StageKind::producer) found[s] = graph.stages[s].samples;
  for (const IndexSpaceNumber i : plan.index_spaces.numbers()) {
    if (plan.index_spaces[i].above >= 0) continue;
    if (const auto mismatch = mismatch_of_zipped(plan, i, found))
      problems.push_back(
          problem_at(graph.stages[mismatch->stage], mismatch->message, mismatch->help));
  }
}

}  // namespace brigade
