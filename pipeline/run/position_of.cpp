#include "pipeline/run/position_of.h"

#include <algorithm>
#include <unordered_set>

#include "pipeline/plan/arithmetic.h"
#include "pipeline/plan/lane_number.h"
#include "pipeline/plan/lanes.h"
#include "pipeline/run/sample_errors.h"
#include "transports/audit.h"
#include "transports/epochs.h"

namespace brigade {
namespace {

using Words = Control<SystemPolicy>;

const PlanStage& stage_of(const Plan& plan, int stage) {
  return plan.stages[static_cast<std::size_t>(stage)];
}

const DomainWords<SystemPolicy>& words_of(const Words& control, int domain) {
  return *control.domains[static_cast<std::size_t>(domain)];
}

struct EpochLength {
  std::uint64_t samples = 0;  // 0: not known yet
  std::uint64_t period = 0;
};

/// Before the sources have opened, what the plan of a resumed run says.
EpochLength length_of(const Plan& plan, const Words& control, int domain) {
  const DomainWords<SystemPolicy>& words = words_of(control, domain);
  const std::uint64_t period = words.epoch_period.value.load(std::memory_order_acquire);
  if (period != 0) return {words.epoch_samples.value.load(), period};
  const PlanDomain& root = plan.domains[static_cast<std::size_t>(root_domain(plan, domain))];
  const std::uint64_t fan_out = plan.domains[static_cast<std::size_t>(domain)].fan_out;
  return {root.samples * fan_out, round_up(root.samples, root.multiple) * fan_out};
}

/// Of a domain whose epochs have one length; {0, 0} while that is not known.
LanePosition place_of(const Plan& plan, const Words& control, int domain, std::uint64_t number) {
  const EpochLength epoch = length_of(plan, control, domain);
  if (epoch.period == 0) return {};
  const LanePosition at{number / epoch.period, number % epoch.period};
  const bool only_padding_left = at.index >= epoch.samples;
  return only_padding_left ? LanePosition{at.epoch + 1, 0} : at;
}

LanePosition lane_position(const Plan& plan, const Words& control, int stage, int lane) {
  const PlanLane& planned = stage_of(plan, stage).lanes[static_cast<std::size_t>(lane)];
  const std::uint64_t low = lane_low(control, stage, lane);
  const DomainEpochs<SystemPolicy> epochs(control, planned.domain);
  if (epochs.have_one_length())
    return place_of(plan, control, planned.domain, std::max(low, planned.resume_at));
  return {std::max(epochs.passed(low), planned.resume_epoch), 0};
}

/// What all of its replicas have been told.
std::uint64_t ends_told(const Words& control, const PlanStage& stage) {
  std::uint64_t told = kNever;
  for (int r = 0; r < stage.replicas; ++r)
    told = std::min(told, control.replicas[stage.first_replica + r].ended.value.load());
  return told;
}

void add_sources(const Plan& plan, const Words& control, Position& position) {
  for (const PlanStage& source : plan.stages) {
    if (!source.indexed) continue;
    const int s = static_cast<int>(&source - plan.stages.data());
    const std::uint64_t samples = length_of(plan, control, source.lanes.front().domain).samples;
    if (samples == 0) continue;
    const auto& fingerprint = control.stages[static_cast<std::size_t>(s)].fingerprint->value;
    position.sources.push_back({source.name, samples, fingerprint.load()});
  }
}

/// Of an entry of one of a stage's lists.
SamplePlace place_of_entry(const Plan& plan, const Words& control, const PlanStage& stage,
                           std::uint64_t entry) {
  const auto lane = static_cast<std::size_t>(lane_of(entry));
  const std::uint64_t number = number_of(entry);
  const int domain = stage.lanes[lane].domain;
  const DomainEpochs<SystemPolicy> epochs(control, domain);
  if (epochs.have_one_length()) {
    const LanePosition at = place_of(plan, control, domain, number);
    return {stage.name, lane, at.epoch, at.index};
  }
  const std::uint64_t epoch = epochs.passed(number);
  return {stage.name, lane, epoch, number - (epoch == 0 ? 0 : epochs.end(epoch - 1))};
}

bool has_one_length(const Words& control, const PlanStage& stage, std::uint64_t lane) {
  return DomainEpochs<SystemPolicy>(control, stage.lanes[lane].domain).have_one_length();
}

void add_quarantined(const Plan& plan, const Words& control, Position& position) {
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    const auto& list = control.stages[s].quarantine;
    for (std::uint64_t i = 0; i < list.size(); ++i) {
      const SamplePlace place = place_of_entry(plan, control, plan.stages[s], list.at(i));
      if (has_one_length(control, plan.stages[s], place.lane))
        position.quarantined.push_back(place);
    }
  }
}

/// Those that count in a run that goes on from here: of `skip: N` each sample of the source once,
/// of `skip: N%` those of the epoch.
class Skipped {
 public:
  Skipped(const Plan& plan, const Words& control, Position& position)
      : plan_(plan), control_(control), position_(position) {
    for (const LanePosition& at : position.lanes) epoch_ = std::min(epoch_, at.epoch);
  }

  void add(int stage) {
    const PlanStage& planned = stage_of(plan_, stage);
    ids_.clear();
    for (const PlanPlace& place : planned.skipped)
      add(stage, {planned.name, static_cast<std::uint64_t>(place.lane), place.epoch, place.index});
    const auto& list = control_.stages[static_cast<std::size_t>(stage)].skips;
    for (std::uint64_t i = 0; i < list.size(); ++i)
      add(stage, place_of_entry(plan_, control_, planned, list.at(i)));
  }

 private:
  void add(int stage, const SamplePlace& place) {
    const PlanStage& planned = stage_of(plan_, stage);
    if (planned.on_error.percent_max > 0 ? place.epoch >= epoch_ : is_another(stage, place))
      position_.skipped.push_back(place);
  }

  bool is_another(int stage, const SamplePlace& place) {
    const PlanStage& planned = stage_of(plan_, stage);
    if (!has_one_length(control_, planned, place.lane)) return true;
    const int lane = static_cast<int>(place.lane);
    const EpochLength epoch = length_of(plan_, control_, planned.lanes[place.lane].domain);
    const std::uint64_t number = place.epoch * epoch.period + place.index;
    return ids_.insert(lane_number(lane, source_id(plan_, control_, stage, lane, number))).second;
  }

  const Plan& plan_;
  const Words& control_;
  Position& position_;
  std::uint64_t epoch_ = kNever;
  std::unordered_set<std::uint64_t> ids_;
};

}  // namespace

Position position_of(const Plan& plan, const Words& control, int stage) {
  const PlanStage& planned = stage_of(plan, stage);
  Position position;
  position.run = plan.run_id;
  position.samples = planned.samples_before;
  for (int lane = 0; lane < static_cast<int>(planned.lanes.size()); ++lane) {
    position.lanes.push_back(lane_position(plan, control, stage, lane));
    position.samples += full_rows(control, stage, lane);
  }
  position.epoch_ends_told = ends_told(control, planned);
  add_sources(plan, control, position);
  add_quarantined(plan, control, position);
  Skipped skipped(plan, control, position);
  for (int s = 0; s < static_cast<int>(plan.stages.size()); ++s) skipped.add(s);
  return position;
}

bool position_is_exact(const Plan& plan, const Words& control, int stage) {
  const PlanStage& planned = stage_of(plan, stage);
  for (std::size_t lane = 0; lane < planned.lanes.size(); ++lane) {
    const DomainEpochs<SystemPolicy> epochs(control, planned.lanes[lane].domain);
    if (epochs.have_one_length()) continue;
    const std::uint64_t low = lane_low(control, stage, static_cast<int>(lane));
    const std::uint64_t passed = epochs.passed(low);
    const std::uint64_t begin = passed == 0 ? 0 : epochs.end(passed - 1);
    if (low != begin || passed < planned.lanes[lane].resume_epoch) return false;
  }
  return true;
}

}  // namespace brigade
