#include "pipeline/state/read_position.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/arithmetic.h"
#include "pipeline/plan/sample_address.h"
#include "pipeline/plan/task_queues.h"
#include "pipeline/records/source_id.h"
#include "transports/audit.h"
#include "transports/epochs.h"

namespace brigade {
namespace {

using Words = Control<SystemPolicy>;

/// What there is to read.
struct Run {
  const Plan& plan;
  const ResumePoint& resume;
  const Words& control;

  const PlanStage& stage(StageNumber s) const { return plan.stages[s]; }
  const IndexSpaceWords<SystemPolicy>& words_of(IndexSpaceNumber index_space) const {
    return *control.index_spaces[index_space];
  }
};

struct EpochLength {
  std::uint64_t samples = 0;  // 0: not known yet
  std::uint64_t period = 0;
};

/// Before the sources have opened, what a resumed run knows of them.
EpochLength length_of(const Run& run, IndexSpaceNumber index_space) {
  const IndexSpaceWords<SystemPolicy>& words = run.words_of(index_space);
  const std::uint64_t period = words.epoch_period.value.load(std::memory_order_acquire);
  if (period != 0) return {words.epoch_samples.value.load(), period};
  const IndexSpaceNumber root = root_index_space(run.plan, index_space);
  const std::uint64_t samples = run.resume.index_space(root).samples;
  const std::uint64_t multiple = run.plan.index_spaces[root].multiple;
  const std::uint64_t fan_out = run.plan.index_spaces[index_space].fan_out;
  return {samples * fan_out, round_up(samples, multiple) * fan_out};
}

/// Of an index space whose epochs have one length; {0, 0} while that is not known.
SamplePosition place_of(const Run& run, IndexSpaceNumber index_space, std::uint64_t number) {
  const EpochLength epoch = length_of(run, index_space);
  if (epoch.period == 0) return {};
  const SamplePosition at{number / epoch.period, number % epoch.period};
  const bool only_padding_left = at.index >= epoch.samples;
  return only_padding_left ? SamplePosition{at.epoch + 1, 0} : at;
}

SamplePosition queue_position(const Run& run, StageNumber stage, QueueNumber queue,
                              std::uint64_t level) {
  const IndexSpaceNumber index_space = run.stage(stage).queues[queue].index_space;
  const ResumeQueue& resumed = run.resume.queue(stage, queue);
  const IndexSpaceEpochs<SystemPolicy> epochs(run.control, index_space);
  if (epochs.have_one_length()) return place_of(run, index_space, std::max(level, resumed.at));
  return {std::max(epochs.passed(level), resumed.epoch), 0};
}

/// What all of its replicas have been told.
std::uint64_t ends_told(const Words& control, const PlanStage& stage) {
  std::uint64_t told = kNever;
  for (int r = 0; r < stage.replicas; ++r)
    told = std::min(told, control.replicas[stage.first_replica + r].ended.value.load());
  return told;
}

void add_sources(const Run& run, Position& position) {
  for (const StageNumber s : run.plan.stages.numbers()) {
    const PlanStage& source = run.plan.stages[s];
    if (!source.indexed) continue;
    const std::uint64_t samples = length_of(run, source.queues.front().index_space).samples;
    if (samples == 0) continue;
    const std::uint64_t found = run.control.stages[s].fingerprint->value.load();
    position.sources.push_back(
        {source.name, samples, found != 0 ? found : run.resume.stage(s).fingerprint});
  }
}

/// Of an entry of one of a stage's lists.
SampleInQueue sample_of_entry(const Run& run, const PlanStage& stage, std::uint64_t entry) {
  const auto [queue, number] = SampleAddress::of(entry);
  const IndexSpaceNumber index_space = stage.queues[queue].index_space;
  const IndexSpaceEpochs<SystemPolicy> epochs(run.control, index_space);
  if (epochs.have_one_length()) return {queue, place_of(run, index_space, number)};
  const std::uint64_t epoch = epochs.passed(number);
  return {queue, {epoch, number - (epoch == 0 ? 0 : epochs.end(epoch - 1))}};
}

bool has_one_length(const Run& run, const PlanStage& stage, QueueNumber queue) {
  const IndexSpaceNumber index_space = stage.queues[queue].index_space;
  return IndexSpaceEpochs<SystemPolicy>(run.control, index_space).have_one_length();
}

void add_quarantined(const Run& run, Position& position) {
  for (const StageNumber s : run.plan.stages.numbers()) {
    const PlanStage& stage = run.plan.stages[s];
    const auto& list = run.control.stages[s].quarantine;
    for (std::uint64_t i = 0; i < list.size(); ++i) {
      const SampleInQueue sample = sample_of_entry(run, stage, list.at(i));
      if (has_one_length(run, stage, sample.queue))
        position.quarantined.push_back({stage.name, sample});
    }
  }
}

/// Those that count in a run resumed from here: of `skip: N` each sample of the source once,
/// of `skip: N%` those of the epoch.
class Skipped {
 public:
  Skipped(const Run& run, Position& position) : run_(run), position_(position) {
    for (const SamplePosition& at : position.queues) epoch_ = std::min(epoch_, at.epoch);
  }

  void add(StageNumber stage) {
    const PlanStage& planned = run_.stage(stage);
    ids_.clear();
    for (const SampleInQueue& sample : run_.resume.stage(stage).skipped) add(stage, sample);
    const auto& list = run_.control.stages[stage].skips;
    for (std::uint64_t i = 0; i < list.size(); ++i)
      add(stage, sample_of_entry(run_, planned, list.at(i)));
  }

 private:
  void add(StageNumber stage, const SampleInQueue& sample) {
    const PlanStage& planned = run_.stage(stage);
    const bool is_share = planned.on_error.percent_max > 0;
    if (is_share ? sample.at.epoch >= epoch_ : is_another(stage, sample))
      position_.skipped.push_back({planned.name, sample});
  }

  bool is_another(StageNumber stage, const SampleInQueue& sample) {
    const PlanStage& planned = run_.stage(stage);
    if (!has_one_length(run_, planned, sample.queue)) return true;
    const PlanQueue& queue = planned.queues[sample.queue];
    const std::uint64_t period = length_of(run_, queue.index_space).period;
    const std::uint64_t number = sample.at.epoch * period + sample.at.index;
    const std::uint64_t id = source_id(run_.plan, run_.control, stage, sample.queue, number);
    return ids_.emplace(sample.queue, id).second;
  }

  const Run& run_;
  Position& position_;
  std::uint64_t epoch_ = kNever;
  std::set<std::pair<QueueNumber, std::uint64_t>> ids_;
};

}  // namespace

Position read_position(const Plan& plan, const ResumePoint& resume, const Words& control,
                       StageNumber stage, const ByQueue<std::uint64_t>& levels) {
  const Run run{plan, resume, control};
  const PlanStage& planned = run.stage(stage);
  Position position;
  position.run = resume.run_id;
  position.identity = resume.identity;
  position.libraries = resume.libraries;
  position.samples = resume.stage(stage).samples_before;
  for (const QueueNumber queue : planned.queues.numbers()) {
    const std::uint64_t level = levels.empty() ? queue_level(control, stage, queue) : levels[queue];
    position.queues.push_back(queue_position(run, stage, queue, level));
    position.samples += full_slots(control, stage, queue);
  }
  position.epoch_ends_told = ends_told(control, planned);
  add_sources(run, position);
  add_quarantined(run, position);
  Skipped skipped(run, position);
  for (const StageNumber s : plan.stages.numbers()) skipped.add(s);
  return position;
}

bool position_is_exact(const Plan& plan, const ResumePoint& resume, const Words& control,
                       StageNumber stage) {
  const ByQueue<PlanQueue>& queues = plan.stages[stage].queues;
  for (const QueueNumber queue : queues.numbers()) {
    const IndexSpaceEpochs<SystemPolicy> epochs(control, queues[queue].index_space);
    if (epochs.have_one_length()) continue;
    const std::uint64_t level = queue_level(control, stage, queue);
    const std::uint64_t passed = epochs.passed(level);
    const std::uint64_t begin = passed == 0 ? 0 : epochs.end(passed - 1);
    if (level != begin || passed < resume.queue(stage, queue).epoch) return false;
  }
  return true;
}

}  // namespace brigade
