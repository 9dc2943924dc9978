#include "pipeline/run/position_of.h"

#include <algorithm>

#include "pipeline/plan/arithmetic.h"
#include "pipeline/plan/lane_number.h"
#include "pipeline/plan/lanes.h"
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

bool has_one_length(const Words& control, int domain) {
  for (const DerivedDomain& derived : control.shape->derived)
    if (derived.domain == domain) domain = derived.above;
  return control.epoch_ends[static_cast<std::size_t>(domain)].capacity() == 0;
}

LanePosition lane_position(const Plan& plan, const Words& control, int stage, int lane) {
  const PlanLane& planned = stage_of(plan, stage).lanes[static_cast<std::size_t>(lane)];
  const std::uint64_t low = lane_low(control, stage, lane);
  if (has_one_length(control, planned.domain))
    return place_of(plan, control, planned.domain, std::max(low, planned.resume_at));
  return {DomainEpochs<SystemPolicy>(control, planned.domain).passed(low), 0};
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

void add_quarantined(const Plan& plan, const Words& control, Position& position) {
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    const auto& list = control.stages[s].quarantine;
    for (std::uint64_t i = 0; i < list.size(); ++i) {
      const std::uint64_t entry = list.at(i);
      const int lane = lane_of(entry);
      const int domain = plan.stages[s].lanes[static_cast<std::size_t>(lane)].domain;
      if (!has_one_length(control, domain)) continue;
      const LanePosition at = place_of(plan, control, domain, number_of(entry));
      position.quarantined.push_back(
          {plan.stages[s].name, static_cast<std::uint64_t>(lane), at.epoch, at.index});
    }
  }
}

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
  return position;
}

bool position_is_exact(const Plan& plan, const Words& control, int stage) {
  const PlanStage& planned = stage_of(plan, stage);
  for (int lane = 0; lane < static_cast<int>(planned.lanes.size()); ++lane) {
    const int domain = planned.lanes[static_cast<std::size_t>(lane)].domain;
    if (has_one_length(control, domain)) continue;
    const std::uint64_t low = lane_low(control, stage, lane);
    const DomainEpochs<SystemPolicy> epochs(control, domain);
    const std::uint64_t passed = epochs.passed(low);
    const std::uint64_t begin = passed == 0 ? 0 : epochs.end(passed - 1);
    if (low != begin) return false;
  }
  return true;
}

}  // namespace brigade
