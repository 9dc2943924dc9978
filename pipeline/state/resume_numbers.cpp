#include "pipeline/state/resume_numbers.h"

#include <algorithm>
#include <map>

#include <brigade/text.h>
#include "base/arithmetic.h"
#include "pipeline/plan/order_fingerprint.h"
#include "pipeline/plan/sample_address.h"
#include "pipeline/plan/task_queues.h"

namespace brigade {
namespace {

constexpr std::uint64_t kUnset = kSaturated;

class Resume {
 public:
  Resume(const Plan& plan, ResumePoint fresh, const ByStage<Position>& positions)
      : plan_(plan),
        positions_(positions),
        point_(std::move(fresh)),
        lowest_(plan.index_spaces.size(), kUnset) {
    point_.index_spaces.assign(plan.index_spaces.size(), {});
    point_.stages.assign(plan.stages.size(), {});
    for (const StageNumber s : plan.stages.numbers())
      point_.stages[s].queues.resize(plan.stages[s].queues.size());
  }

  Result<ResumePoint> run() {
    BRIGADE_TRY(set_samples());
    // Sources before readers, so from the last stage upwards: what a stage reads lies above it.
    for (StageNumber s = plan_.stages.next_number(); s-- > 0;) BRIGADE_TRY(visit(s));
    for (const IndexSpaceNumber d : plan_.index_spaces.numbers()) set_start(d);
    for (const StageNumber s : plan_.stages.numbers()) set_stage(s);
    return std::move(point_);
  }

 private:
  const PlanIndexSpace& index_space(IndexSpaceNumber d) const { return plan_.index_spaces[d]; }
  const PlanIndexSpace& root_of(IndexSpaceNumber d) const {
    return index_space(root_index_space(plan_, d));
  }
  const PlanStage& stage(StageNumber s) const { return plan_.stages[s]; }
  ResumeStage& before(StageNumber s) { return point_.stages[s]; }
  ResumeIndexSpace& past(IndexSpaceNumber d) { return point_.index_spaces[d]; }
  const Position& position(StageNumber s) const { return positions_[s]; }

  /// Its source records where each epoch ends.
  bool is_open_ended(IndexSpaceNumber d) const {
    const auto& sources = root_of(d).sources;
    return std::any_of(sources.begin(), sources.end(),
                       [&](StageNumber source) { return !stage(source).indexed; });
  }

  /// Numbers of an epoch; 0: not known.
  std::uint64_t period(IndexSpaceNumber d) const {
    const std::uint64_t samples = point_.index_space(root_index_space(plan_, d)).samples;
    return multiply_saturating(round_up(samples, root_of(d).multiple), index_space(d).fan_out);
  }

  Result<void> set_samples() {
    std::map<std::string, SourceIdentity> metadata;
    for (const Position& one : positions_)
      for (const SourceIdentity& source : one.sources) {
        const auto [known, added] = metadata.emplace(source.stage, source);
        if (!added && !(known->second == source))
          return Error{concat("the positions of the consumers disagree about the source ",
                              quote(source.stage))};
      }
    for (const IndexSpaceNumber d : plan_.index_spaces.numbers())
      for (const StageNumber source : index_space(d).sources) {
        const auto found = metadata.find(stage(source).name);
        if (found == metadata.end()) continue;
        past(d).samples = found->second.samples;
        before(source).fingerprint = found->second.fingerprint;
      }
    return {};
  }

  /// How far its task queues reach up, in the index spaces that they read.
  Result<void> visit(StageNumber s) {
    const PlanStage& stage = this->stage(s);
    if (stage.is_cache()) visit_queue(stage.queues[1], {});
    if (stage.flat_map_outputs != 0)
      for (const QueueNumber l : stage.queues.numbers(1))
        visit_queue(stage.queues[l], beginning_of(stage));
    if (stage.kind != StageKind::consumer) return {};
    ByQueue<SamplePosition> at = position(s).queues;
    if (at.empty()) at.resize(stage.queues.size());
    if (at.size() != stage.queues.size())
      return Error{concat("stage ", quote(stage.name), " has ", stage.queues.size(),
                          " sources, but the checkpoint has ", at.size())};
    for (const QueueNumber l : stage.queues.numbers()) visit_queue(stage.queues[l], at[l]);
    return {};
  }

  void visit_queue(const PlanQueue& queue, const SamplePosition& at) {
    if (is_open_ended(queue.index_space))
      return lower_to(root_of(queue.index_space), epoch_of(queue, at));
    lower_to(root_of(queue.index_space),
             number_of_position(queue, at) / index_space(queue.index_space).fan_out);
  }

  void lower_to(const PlanIndexSpace& root, std::uint64_t at) {
    std::uint64_t& lowest = lowest_[plan_.index_spaces.number_of(root)];
    lowest = std::min(lowest, at);
  }

  /// Where a flat_map stage begins: with the lowest epoch of its readers, all
  /// of which lie below it.
  SamplePosition beginning_of(const PlanStage& stage) const {
    const IndexSpaceNumber output = stage.queues.front().index_space;
    return {lowest_[output] == kUnset ? 0 : lowest_[output], 0};
  }

  std::uint64_t number_of_position(const PlanQueue& queue, const SamplePosition& at) const {
    const std::uint64_t epoch = period(queue.index_space);
    const std::uint64_t end =
        multiply_saturating(index_space_epochs(plan_, queue.index_space), epoch);
    return std::min(end, add_saturating(multiply_saturating(at.epoch, epoch), at.index));
  }

  std::uint64_t epoch_of(const PlanQueue& queue, const SamplePosition& at) const {
    return std::min(at.epoch, index_space_epochs(plan_, queue.index_space));
  }

  void set_start(IndexSpaceNumber d) {
    ResumeIndexSpace& one = past(d);
    const PlanIndexSpace& root = root_of(d);
    const std::uint64_t lowest = lowest_[plan_.index_spaces.number_of(root)];
    if (lowest == kUnset) return;
    if (is_open_ended(d)) {
      one.first_epoch = lowest;
      return;
    }
    one.start = lowest / root.multiple * root.multiple * index_space(d).fan_out;
    one.first_epoch = period(d) == 0 ? 0 : one.start / period(d);
  }

  void set_stage(StageNumber s) {
    const PlanStage& planned = stage(s);
    ResumeStage& stage = before(s);
    stage.epoch_ends_told = past(planned.queues.front().index_space).first_epoch;
    if (planned.flat_map_outputs != 0)
      for (const QueueNumber l : planned.queues.numbers(1))
        set_queue(planned.queues[l], beginning_of(planned), stage.queues[l]);
    const Position& at = position(s);
    if (planned.kind != StageKind::consumer) return;
    stage.epoch_ends_told = at.epoch_ends_told;
    if (at.queues.empty()) return;
    for (const QueueNumber l : planned.queues.numbers())
      set_queue(planned.queues[l], at.queues[l], stage.queues[l]);
    stage.restored = planned.saves && !at.digest.empty();
    stage.samples_before = at.run == point_.run_id ? at.samples : 0;
    for (const StageSample& one : at.quarantined) set_quarantined(one);
    for (const StageSample& one : at.skipped) set_skipped(one);
  }

  void set_queue(const PlanQueue& queue, const SamplePosition& at, ResumeQueue& out) const {
    if (is_open_ended(queue.index_space))
      out.epoch = epoch_of(queue, at);
    else
      out.at = number_of_position(queue, at);
  }

  /// -1: the plan has no such task queue.
  StageNumber stage_of(const StageSample& one) const {
    for (const StageNumber s : plan_.stages.numbers())
      if (stage(s).name == one.stage && stage(s).queues.has(one.sample.queue)) return s;
    return -1;
  }
  IndexSpaceNumber index_space_of(StageNumber s, const SampleInQueue& sample) const {
    return stage(s).queues[sample.queue].index_space;
  }

  void set_quarantined(const StageSample& one) {
    const StageNumber s = stage_of(one);
    if (s < 0) return;
    const auto& [queue, at] = one.sample;
    const IndexSpaceNumber in = index_space_of(s, one.sample);
    if (is_open_ended(in)) return;
    const std::uint64_t number = at.epoch * period(in) + at.index;
    add_once(SampleAddress{queue, number}.word(), before(s).quarantined);
  }

  /// What fails at the beginning or after it is counted when it is met again.
  void set_skipped(const StageSample& one) {
    const StageNumber s = stage_of(one);
    if (s < 0 || !stage(s).on_error.skip) return;
    const SamplePosition& at = one.sample.at;
    const IndexSpaceNumber in = index_space_of(s, one.sample);
    const bool is_met_again = is_open_ended(in)
                                  ? at.epoch >= past(in).first_epoch
                                  : at.epoch * period(in) + at.index >= past(in).start;
    if (!is_met_again) add_once(one.sample, before(s).skipped);
  }

  template <class One>
  static void add_once(const One& one, std::vector<One>& list) {
    if (std::find(list.begin(), list.end(), one) == list.end()) list.push_back(one);
  }

  const Plan& plan_;
  const ByStage<Position>& positions_;
  ResumePoint point_;
  /// Of roots, of all positions in them: a number, or an epoch where it is open-ended.
  ByIndexSpace<std::uint64_t> lowest_;
};

}  // namespace

std::vector<std::string> stages_that_forget(const Plan& plan) {
  std::vector<std::string> names;
  for (const PlanStage& stage : plan.stages)
    if (stage.stateful && !stage.saves && !stage.is_output()) names.push_back(stage.name);
  return names;
}

Result<void> check_resumable(const Plan& plan) {
  for (const PlanStage& stage : plan.stages) {
    if (stage.kind == StageKind::producer && !stage.indexed)
      return Error{
          concat("the source ", quote(stage.name), " is a stream, which cannot be read again")};
    if (stage.flat_map_outputs != 0 && stage.queues.size() > 2)
      return Error{concat("stage ", quote(stage.name),
                          " takes samples of several sources as they arrive, and their order "
                          "differs from run to run")};
    if (takes_any_order(stage))
      return Error{
          concat("the program takes the batches of ", quote(stage.name),
                 " as they finish (`order: any`), so no position describes what it has read")};
  }
  return {};
}

Result<ResumePoint> resume_numbers(const Plan& plan, ResumePoint fresh,
                                   const ByStage<Position>& positions) {
  BRIGADE_TRY(check_resumable(plan));
  return Resume(plan, std::move(fresh), positions).run();
}

}  // namespace brigade
