#include "pipeline/plan/consumer_epochs.h"

#include <algorithm>
#include <utility>

#include <brigade/text.h>
#include "base/arithmetic.h"
#include "pipeline/plan/caches.h"
#include "pipeline/plan/subset.h"

namespace brigade {
namespace {

/// Numbers of an epoch, and how many of the first of them are samples: what `drop_last` drops has
/// numbers still.
struct Epoch {
  std::uint64_t numbers = 0;
  std::uint64_t samples = 0;
};

/// What a stage gives or reads, or why that is not known.
struct Known {
  std::optional<Epoch> epoch;
  std::string why_not;
};

Known unknown(std::string why_not) { return {std::nullopt, std::move(why_not)}; }

/// By what each stage above gives; those sources are read side by side.
Known read_by(const ByStage<Known>& given, const PlanStage& stage, const PlanQueue& queue) {
  std::optional<Epoch> read;
  for (const PlanInput& input : queue.inputs) {
    const Known& one = given[input.stage];
    if (!one.epoch) return one;
    if (!read) read = one.epoch;
    read->samples = std::min(read->samples, one.epoch->samples);
  }
  if (read && stage.drop_last)
    read->samples = std::min(read->samples, in_whole_batches(stage, queue, read->numbers));
  return {read, ""};
}

bool drops_none(const ValidStage& stage) {
  if (!stage.parts.empty()) return std::all_of(stage.parts.begin(), stage.parts.end(), drops_none);
  return stage.keeps_all || !stage.type->contract.may_drop;
}

/// A cache whose numbers are not in the order in which the stages above have dropped samples.
bool is_reordered(const ValidGraph& graph, const Plan& plan, StageNumber number) {
  const PlanStage& stage = plan.stages[number];
  if (!stage.is_cache()) return false;
  const PlanIndexSpace& above = plan.index_spaces[stage.queues.back().index_space];
  return graph.stages[number].shuffle ||
         std::any_of(above.sources.begin(), above.sources.end(),
                     [&](StageNumber source) { return graph.stages[source].shuffle; });
}

/// Of a producer, which gives as many numbers.
Known given_by_source(const ValidStage& valid, const PlanStage& stage, std::uint64_t numbers) {
  const std::string name = concat("stage ", quote(stage.name));
  if (stage.is_input()) return unknown(concat(name, " is fed by the program"));
  if (!stage.indexed) return unknown(concat(name, " is a stream"));
  if (!drops_none(valid)) return unknown(concat(name, " may drop samples"));
  if (numbers != 0) return {Epoch{numbers, numbers}, ""};
  for (const ValidStage& part : valid.parts)
    if (!part.uncounted.empty())
      return unknown(concat("stage ", quote(part.name), ": ", part.uncounted));
  return unknown(valid.uncounted.empty() ? concat(name, " has not been counted")
                                         : concat(name, ": ", valid.uncounted));
}

/// Of a flat_map that makes one sample of each, such as `merge` and `repack`: all that it reads.
Known each_once(const ByStage<Known>& given, const PlanStage& stage) {
  Epoch sum;
  for (const QueueNumber queue : stage.queues.numbers(1)) {
    const Known read = read_by(given, stage, stage.queues[queue]);
    if (!read.epoch) return read;
    sum.samples = add_saturating(sum.samples, read.epoch->samples);
  }
  sum.numbers = sum.samples;
  return {sum, ""};
}

Known given_by(const ByStage<Known>& given, const ValidStage& valid, const PlanStage& stage,
               bool reordered) {
  const std::string name = concat("stage ", quote(stage.name));
  if (stage.flat_map_outputs == 1 && drops_none(valid)) return each_once(given, stage);
  Known read = read_by(given, stage, stage.queues.back());
  if (!read.epoch) return read;
  if (!drops_none(valid)) return unknown(concat(name, " may drop samples"));
  if (stage.flat_map_outputs != 0)
    return unknown(
        concat(name, " outputs 1 to ", stage.flat_map_outputs, " samples for each input"));
  // Then numbers without a sample are anywhere, and how full batches are differs from epoch to
  // epoch.
  const Epoch& epoch = *read.epoch;
  if (reordered && epoch.samples < epoch.numbers)
    return unknown(concat(name, " is shuffled downstream of `drop_last`"));
  const std::uint64_t numbers = stage.is_cache()
                                    ? limited(valid.limit, epoch.numbers)
                                    : multiply_saturating(epoch.numbers, stage.fan_out);
  return {Epoch{numbers, std::min(numbers, multiply_saturating(epoch.samples, stage.fan_out))}, ""};
}

/// Under `assign: fixed` those without a sample are handed out, too, to the end of the padding;
/// nothing below a flat_map, which numbers samples as they come.
std::optional<std::uint64_t> batches_of(const Plan& plan, const PlanStage& stage,
                                        const PlanQueue& queue, const Epoch& epoch) {
  if (!queue.fixed) return round_up(epoch.samples, queue.task) / queue.task;
  for (const StageNumber source : plan.index_spaces[queue.index_space].sources)
    if (!plan.stages[source].indexed) return std::nullopt;
  if (stage.drop_last) return in_whole_batches(stage, queue, epoch.numbers) / queue.task;
  return round_up(epoch.numbers, plan.index_spaces[queue.index_space].multiple) / queue.task;
}

}  // namespace

std::vector<ConsumerEpoch> consumer_epochs(const ValidGraph& graph, const Plan& plan) {
  ByStage<Known> given(plan.stages.size());
  std::vector<ConsumerEpoch> all;
  for (const StageNumber s : plan.stages.numbers()) {
    const PlanStage& stage = plan.stages[s];
    if (stage.kind != StageKind::consumer) {
      given[s] = stage.queues.back().inputs.empty()
                     ? given_by_source(graph.stages[s], stage, samples_of(graph, plan, s))
                     : given_by(given, graph.stages[s], stage, is_reordered(graph, plan, s));
      continue;
    }
    for (const PlanQueue& queue : stage.queues) {
      ConsumerEpoch one{stage.name, queue.inputs.front().port, {}, {}};
      const Known read = read_by(given, stage, queue);
      one.unknown = read.why_not;
      if (read.epoch) {
        one.samples = read.epoch->samples;
        if (stage.batched) one.batches = batches_of(plan, stage, queue, *read.epoch);
        if (stage.batched && !one.batches)
          one.unknown =
              concat("stage ", quote(stage.name), " has `assign: fixed` downstream of a flat_map");
      }
      all.push_back(std::move(one));
    }
  }
  return all;
}

std::uint64_t in_whole_batches(const PlanStage& stage, const PlanQueue& queue,
                               std::uint64_t samples) {
  const std::uint64_t round =
      queue.fixed ? multiply_saturating(queue.task, static_cast<std::uint64_t>(stage.replicas))
                  : queue.task;
  return samples / round * round;
}

}  // namespace brigade
