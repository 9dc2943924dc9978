#include "pipeline/plan/consumer_epochs.h"

#include <algorithm>

#include "base/arithmetic.h"
#include "pipeline/plan/caches.h"

namespace brigade {
namespace {

/// Numbers of an epoch, and how many of the first of them are samples: what `drop_last` drops has
/// numbers still.
struct Epoch {
  std::uint64_t numbers = 0;
  std::uint64_t samples = 0;
};

/// By what each stage above gives; those sources are read side by side.
std::optional<Epoch> read_by(const ByStage<std::optional<Epoch>>& given, const PlanStage& stage,
                             const PlanQueue& queue) {
  std::optional<Epoch> read;
  for (const PlanInput& input : queue.inputs) {
    const std::optional<Epoch>& one = given[input.stage];
    if (!one) return std::nullopt;
    if (!read) read = one;
    read->samples = std::min(read->samples, one->samples);
  }
  if (read && stage.drop_last)
    read->samples = std::min(read->samples, in_whole_batches(stage, queue, read->numbers));
  return read;
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

std::optional<Epoch> given_by(const ByStage<std::optional<Epoch>>& given, const PlanStage& stage,
                              std::uint64_t numbers, bool reordered) {
  if (stage.may_drop || numbers == 0) return std::nullopt;
  if (stage.kind == StageKind::producer) return Epoch{numbers, numbers};
  const std::optional<Epoch> read = read_by(given, stage, stage.queues.back());
  if (!read) return std::nullopt;
  // Then numbers without a sample are anywhere, and how full batches are differs from epoch to
  // epoch.
  if (reordered && read->samples < read->numbers) return std::nullopt;
  return Epoch{numbers, std::min(numbers, multiply_saturating(read->samples, stage.fan_out))};
}

/// Under `assign: fixed` those without a sample are handed out, too, to the end of the padding.
std::uint64_t batches_of(const Plan& plan, const PlanStage& stage, const PlanQueue& queue,
                         const Epoch& epoch) {
  if (!queue.fixed) return round_up(epoch.samples, queue.task) / queue.task;
  if (stage.drop_last) return in_whole_batches(stage, queue, epoch.numbers) / queue.task;
  return round_up(epoch.numbers, plan.index_spaces[queue.index_space].multiple) / queue.task;
}

}  // namespace

std::vector<ConsumerEpoch> consumer_epochs(const ValidGraph& graph, const Plan& plan) {
  ByStage<std::optional<Epoch>> given(plan.stages.size());
  std::vector<ConsumerEpoch> all;
  for (const StageNumber s : plan.stages.numbers()) {
    const PlanStage& stage = plan.stages[s];
    given[s] = given_by(given, stage, samples_of(graph, plan, s), is_reordered(graph, plan, s));
    if (stage.kind != StageKind::consumer) continue;
    for (const PlanQueue& queue : stage.queues) {
      ConsumerEpoch one{stage.name, queue.inputs.front().port, {}, {}};
      if (const std::optional<Epoch> epoch = read_by(given, stage, queue)) {
        one.samples = epoch->samples;
        if (stage.batched) one.batches = batches_of(plan, stage, queue, *epoch);
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
