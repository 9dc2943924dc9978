#include "pipeline/plan/planner/zipped_sources.h"

#include <algorithm>
#include <utility>

#include <brigade/text.h>
#include "base/units.h"
#include "pipeline/plan/subset.h"

namespace brigade {
namespace {

/// What is read where a source of an index space is a cache: its samples lie as those of the source
/// above it, of which it takes the first.
struct ReadSource {
  const PlanStage* stage;
  std::uint64_t fan_out = 1;  ///< samples that are kept for each of its own
};

ReadSource read_source(const Plan& plan, StageNumber number) {
  ReadSource source{&plan.stages[number]};
  while (source.stage->is_cache()) {
    const PlanIndexSpace& above = plan.index_spaces[source.stage->queues[1].index_space];
    source.fan_out *= above.fan_out;
    source.stage = &plan.stages[above.sources.front()];
  }
  return source;
}

/// A cache's file that is read again: what was read to make it, only the graph that made it says.
bool is_kept(const PlanStage& source) { return source.type == "cached" && is_front(source); }

/// A source that is read by those keys, its random numbers drawn by the seed.
struct ReadKeys {
  StageKeys keys;
  std::uint64_t seed;
};

/// Of `found` samples: without a split whose part is all of them, and a limit that takes all there
/// are; a limit as the number it takes.
ReadKeys what_is_chosen(const PlanStage& source, std::uint64_t found) {
  const Subset subset(source, source.seed, found);
  ReadKeys out{source, source.seed};
  if (subset.in_other_parts() == 0) out.keys.split = {}, out.keys.part.clear();
  if (!is_spread(source)) return out;
  out.keys.limit = {};
  if (subset.behind_limit() > 0) out.keys.limit.samples = subset.size();
  return out;
}

bool read_neighbours(const ReadKeys& a, const ReadKeys& b) {
  return reads_neighbours(a.keys) && reads_neighbours(b.keys);
}

/// `skip:` may differ: the choice is among the samples behind it, and one of two files may have a
/// row more at its beginning.
bool read_alike(const ReadKeys& a, const ReadKeys& b) {
  if (read_neighbours(a, b)) return true;
  if (a.keys.split != b.keys.split || a.keys.part != b.keys.part) return false;
  if (is_spread(a.keys) != is_spread(b.keys)) return false;
  return !is_spread(a.keys) || (a.keys.limit == b.keys.limit && a.seed == b.seed);
}

/// Of two sources that are both limited, and the same but for `take: first` at one, the other.
const PlanStage* lacks_take_first(const PlanStage& a, const PlanStage& b) {
  if (!a.limit.any() || !b.limit.any() || a.take == b.take) return nullptr;
  if (a.split != b.split || a.part != b.part) return nullptr;
  return a.take == Take::first ? &b : &a;
}

std::string how_to_read_alike(const PlanStage& a, const PlanStage& b) {
  if (const PlanStage* const spread = lacks_take_first(a, b))
    return concat("write `take: first` at both (`--set stages.", spread->name, ".take=first`)");
  return "write the same `split:`, `part:`, `limit:`, `take:` and `seed:` at each source; to "
         "shorten the larger source, write `limit: N` with `take: first`";
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
    const auto [stage, fan_out] = read_source(plan, number);
    const PlanStage& source = *stage;
    if (is_kept(source)) continue;
    if (first < 0) {
      first = number;
      continue;
    }
    if (is_drawn(source) || is_drawn(*read_source(plan, first).stage))
      return ZippedMismatch{
          number,
          concat("zipped sources cannot draw their samples by `mix:`, `weights:` or "
                 "`repeat_factor:`: ",
                 quote(plan.stages[first].name), " and ", quote(plan.stages[number].name)),
          "read all tensors of a sample from one source"};
    const auto [other_stage, other_fan_out] = read_source(plan, first);
    const PlanStage& other = *other_stage;
    const std::uint64_t found_first = found[plan.stages.number_of(other)];
    const std::uint64_t found_this = found[plan.stages.number_of(source)];
    const bool known = found_first != 0 && found_this != 0;
    const ReadKeys of_first =
        known ? what_is_chosen(other, found_first) : ReadKeys{other, other.seed};
    const ReadKeys of_this =
        known ? what_is_chosen(source, found_this) : ReadKeys{source, source.seed};
    const bool neighbours = read_neighbours(of_first, of_this);
    const bool alike =
        read_alike({other, other.seed}, {source, source.seed}) || read_alike(of_first, of_this);
    if (!alike || (!neighbours && other_fan_out != fan_out))
      return ZippedMismatch{
          number,
          concat(both(plan.stages[first], plan.stages[number]),
                 " select samples in different ways, so the pairs would not match"),
          how_to_read_alike(other, source)};
    const std::uint64_t left_first = found_first - std::min(other.skip, found_first);
    const std::uint64_t left_this = found_this - std::min(source.skip, found_this);
    if (neighbours || !known || left_first == left_this) continue;
    return ZippedMismatch{number,
                          concat(both(plan.stages[first], plan.stages[number]), " have ",
                                 format_samples(left_first), " and ", format_samples(left_this),
                                 " to select from, so the selected pairs would not match"),
                          "make the sources equally large, or read the first samples of each: "
                          "`limit: N` with `take: first`, without `split:`"};
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

void warn_of_zipped_orders(Plan& plan) {
  for (const PlanIndexSpace& index_space : plan.index_spaces) {
    if (index_space.above >= 0 || index_space.sources.empty()) continue;
    const PlanStage& first = plan.stages[index_space.sources.front()];
    for (const StageNumber number : index_space.sources) {
      const PlanStage& other = plan.stages[number];
      const bool seeds = first.shuffle && other.shuffle && first.seed != other.seed;
      if (first.shuffle == other.shuffle && !seeds) continue;
      const PlanStage& shuffled = first.shuffle ? first : other;
      const PlanStage& plain = first.shuffle ? other : first;
      plan.warnings.push_back(concat(
          "zipped sources have different orders: ",
          seeds ? concat(quote(first.name), " and ", quote(other.name),
                         " are shuffled by different seeds")
                : concat(quote(shuffled.name), " is shuffled, ", quote(plain.name), " is not"),
          ", so samples may be paired that do not belong together; write the same `shuffle:` and "
          "`seed:` at each source"));
      break;
    }
  }
}

}  // namespace brigade
