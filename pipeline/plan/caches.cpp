#include "pipeline/plan/caches.h"

#include <algorithm>

#include <brigade/text.h>
#include "base/arithmetic.h"
#include "pipeline/plan/ring_layout.h"
#include "pipeline/plan/subset.h"
#include "pipeline/plan/task_queues.h"

namespace brigade {
namespace {

std::uint64_t of_this_rank(std::uint64_t samples, const Shard& shard) {
  const bool more = shard.uneven == Uneven::pad && samples % shard.world != 0;
  return samples / shard.world + (more ? 1 : 0);
}

/// Whether the samples of an index space have indices that are theirs in every run: neither a
/// stream nor a stage that numbers them as they come.
bool has_order(const Plan& plan, IndexSpaceNumber index_space) {
  const auto& sources = plan.index_spaces[index_space].sources;
  return std::all_of(sources.begin(), sources.end(),
                     [&](StageNumber source) { return plan.stages[source].indexed; });
}

bool is_drawn_above(const Plan& plan, IndexSpaceNumber index_space) {
  const auto& sources = plan.index_spaces[root_index_space(plan, index_space)].sources;
  return std::any_of(sources.begin(), sources.end(),
                     [&](StageNumber source) { return is_drawn(plan.stages[source]); });
}

/// ": images: no such folder", of a source above that could not be counted.
std::string why_unknown(const ValidGraph& graph, const Plan& plan, StageNumber cache) {
  const ByStage<bool> above = stages_above(plan, cache);
  for (const StageNumber s : above.numbers())
    if (above[s] && !graph.stages[s].uncounted.empty())
      return concat(": ", graph.stages[s].name, ": ", graph.stages[s].uncounted);
  return "";
}

void check(const ValidGraph& graph, const Plan& plan, StageNumber number, std::uint64_t known,
           PlanProblems& problems) {
  const ValidStage& stage = graph.stages[number];
  const IndexSpaceNumber above = plan.stages[number].queues[1].index_space;
  if (!has_order(plan, above))
    problems.push_back(
        problem_at(stage, "a cache stores samples by their index, but this source has no indices",
                   "read the source from files, or place the cache upstream of the flat_map"));
  else if (is_drawn_above(plan, above))
    problems.push_back(
        problem_at(stage,
                   "a cache stores one epoch, but `mix:`, `weights:` and `repeat_factor:` of its "
                   "source draw different samples in each epoch",
                   "remove the cache, or the weights and shares"));
  else if (known == 0 && stage.samples == 0)
    problems.push_back(problem_at(
        stage,
        concat("the size of its source is unknown before the run",
               why_unknown(graph, plan, number)),
        "write `params: {samples: N}`, with at least the number of samples of the source"));
  else if (stage.samples != 0 && stage.samples < known)
    problems.push_back(problem_at(
        stage, concat("`samples: ", stage.samples, "` is too small, expected at least ", known),
        "omit `samples:`, or store fewer samples with `limit:`"));
}

/// What reads beside a cache would see one epoch in a first run and, where the file is used, all.
void check_file(const ValidStage& stage, const Plan& plan, StageNumber number,
                PlanProblems& problems) {
  if (cache_file(plan.stages[number]).empty()) return;
  if (plan.shard.world > 1)
    return problems.push_back(
        problem_at(stage,
                   concat("`file:` stores all samples in one file, but this is one of ",
                          plan.shard.world, " processes that share them"),
                   "omit `file:`: each process then stores its part in memory"));
  const ByStage<bool> above = stages_above(plan, number);
  for (const StageNumber s : above.numbers()) {
    if (!above[s]) continue;
    for (const auto& [reader, queue] : plan.stages[s].readers) {
      if (reader == number || above[reader]) continue;
      return problems.push_back(
          problem_at(stage,
                     concat("with `file:`, only the cache may read the stages upstream of it, "
                            "because they do not run if the file exists; ",
                            quote(plan.stages[reader].name), " reads ", quote(plan.stages[s].name)),
                     "read the cache instead, or omit `file:`"));
    }
  }
}

}  // namespace

std::string cache_file(const PlanStage& stage) {
  if (!stage.is_cache()) return "";
  for (const auto& [name, value] : stage.params)
    if (name == "file") return value.text;
  return "";
}

std::uint64_t memory_segment_bytes(const PlanStage& stage) {
  return cache_file(stage).empty() ? stage.segment_bytes() : stage.ring.bytes;
}

ByStage<bool> stages_above(const Plan& plan, StageNumber stage) {
  ByStage<bool> above(plan.stages.size());
  for (StageNumber s = stage; s >= 0; --s) {  // sources before readers
    if (s != stage && !above[s]) continue;
    for (const PlanQueue& queue : plan.stages[s].queues)
      for (const PlanInput& input : queue.inputs) above[input.stage] = true;
  }
  return above;
}

std::uint64_t read_of(const ValidStage& source, std::uint64_t seed) {
  std::uint64_t sum = Subset(source, seed, source.samples).size();
  for (const ValidStage& part : source.parts) {
    const std::uint64_t read = read_of(part, seed);
    if (read == 0) return 0;
    sum = add_saturating(sum, read);
  }
  return sum;
}

std::uint64_t samples_of(const ValidGraph& graph, const Plan& plan, StageNumber stage) {
  const ValidStage& valid = graph.stages[stage];
  const PlanStage& planned = plan.stages[stage];
  if (valid.sources.empty())
    return of_this_rank(epoch_samples(valid, read_of(valid, planned.seed)), plan.shard);
  if (planned.flat_map_outputs != 0) return 0;
  const std::uint64_t above = samples_of(graph, plan, valid.sources.front().stage);
  return planned.is_cache() ? limited(valid.limit, above)
                            : multiply_saturating(above, planned.fan_out);
}

void make_caches(const ValidGraph& graph, Plan& plan, PlanProblems& problems) {
  for (const StageNumber s : plan.stages.numbers()) {
    PlanStage& stage = plan.stages[s];
    if (!stage.is_cache()) continue;
    const ValidStage& valid = graph.stages[s];
    const std::uint64_t known = samples_of(graph, plan, s);
    check(graph, plan, s, known, problems);
    check_file(valid, plan, s, problems);
    PlanRing& cache = stage.cache;
    cache.slots = std::max<std::uint64_t>(known != 0 ? known : valid.samples, 1);
    cache.tensors = ring_tensors(valid.outputs);
    cache.sparse = has_ragged(cache.tensors);
    lay_out_ring(cache);
    cache.terms = {{"cached", cache.slots}};
  }
}

}  // namespace brigade
