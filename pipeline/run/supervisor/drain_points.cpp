#include "pipeline/run/supervisor/drain_points.h"

#include <algorithm>

#include "pipeline/plan/task_queues.h"
#include "transports/stop.h"

namespace brigade {
namespace {

class DrainPoints {
 public:
  DrainPoints(const Plan& plan, Control<SystemPolicy>& control) : plan_(plan), control_(control) {
    for (const IndexSpaceNumber d : plan.index_spaces.numbers())
      ends_.push_back(claimed_end(control, d, plan.index_spaces[d].multiple));
  }

  ByIndexSpace<std::uint64_t> run() {
    do {
      changed_ = false;
      for (const PlanStage& stage : plan_.stages) {
        if (stage.join == Join::epochs) finish_turns(stage);
        if (stage.is_cache()) fill(stage);
      }
    } while (changed_);
    return ends_;
  }

 private:
  /// Numbers of an epoch; 0: not known, or the epochs differ.
  std::uint64_t period(IndexSpaceNumber index_space) const {
    return control_.index_spaces[index_space]->epoch_period.value.load();
  }
  std::uint64_t fan_out(IndexSpaceNumber index_space) const {
    return plan_.index_spaces[index_space].fan_out;
  }
  std::uint64_t& end_of(IndexSpaceNumber index_space) {
    return ends_[root_index_space(plan_, index_space)];
  }

  void finish_turns(const PlanStage& stage) {
    for (const QueueNumber later : stage.queues.numbers()) {
      const std::uint64_t epochs = begun(stage.queues[later].index_space);
      for (const QueueNumber turn : stage.queues.numbers())
        if (turn != later && epochs > 0)
          finish(stage.queues[turn].index_space, turn < later ? epochs : epochs - 1);
    }
  }

  /// How many epochs of an index space have begun. Of one that a flat_map numbers: above it, where
  /// as many have begun or more.
  std::uint64_t begun(IndexSpaceNumber index_space) {
    std::uint64_t most = 0;
    for (const IndexSpaceNumber above : flat_mapped_from(index_space))
      most = std::max(most, begun(above));
    if (period(index_space) == 0 || end_of(index_space) == kNever) return most;
    const std::uint64_t root_period = period(index_space) / fan_out(index_space);
    return (end_of(index_space) + root_period - 1) / root_period;
  }

  /// So many epochs of an index space, if it has them; or of those that it is made of.
  void finish(IndexSpaceNumber index_space, std::uint64_t epochs) {
    for (const IndexSpaceNumber above : flat_mapped_from(index_space)) finish(above, epochs);
    if (period(index_space) == 0 || end_of(index_space) == kNever) return;
    epochs = std::min(epochs, index_space_epochs(plan_, index_space));
    raise(index_space, epochs * (period(index_space) / fan_out(index_space)));
  }

  /// The index spaces of the samples that a flat_map renumbers to make those of this one.
  std::vector<IndexSpaceNumber> flat_mapped_from(IndexSpaceNumber index_space) const {
    std::vector<IndexSpaceNumber> above;
    for (const StageNumber source :
         plan_.index_spaces[root_index_space(plan_, index_space)].sources) {
      const PlanStage& stage = plan_.stages[source];
      if (stage.flat_map_outputs == 0) continue;
      for (const QueueNumber l : stage.queues.numbers(1))
        above.push_back(stage.queues[l].index_space);
    }
    return above;
  }

  void raise(IndexSpaceNumber index_space, std::uint64_t end) {
    if (end_of(index_space) >= end) return;
    end_of(index_space) = end;
    changed_ = true;
  }

  /// What a cache is to give beyond what was claimed of it may have to be kept first.
  void fill(const PlanStage& cache) {
    const IndexSpaceNumber given = cache.queues[0].index_space;
    const IndexSpaceNumber kept = cache.queues[1].index_space;
    const auto multiple = plan_.index_spaces[given].multiple;
    if (end_of(given) > claimed_end(control_, given, multiple) && end_of(given) != kNever)
      finish(kept, 1);
  }

  const Plan& plan_;
  Control<SystemPolicy>& control_;
  ByIndexSpace<std::uint64_t> ends_;  // of those that have sources
  bool changed_ = false;
};

}  // namespace

ByIndexSpace<std::uint64_t> drain_points(const Plan& plan, Control<SystemPolicy>& control) {
  return DrainPoints(plan, control).run();
}

}  // namespace brigade
