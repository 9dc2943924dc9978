#include "pipeline/plan/resume.h"

#include <algorithm>
#include <map>

#include "base/text.h"
#include "pipeline/plan/arithmetic.h"
#include "pipeline/plan/lane_number.h"
#include "pipeline/plan/lanes.h"

namespace brigade {
namespace {

constexpr std::uint64_t kUnset = kSaturated;

class Resume {
 public:
  Resume(Plan& plan, const std::vector<Position>& positions)
      : plan_(plan), positions_(positions), lowest_(plan.domains.size(), kUnset) {}

  Result<void> run() {
    BRIGADE_TRY(set_samples());
    // Sources before readers, so from the last stage upwards: what a stage reads lies above it.
    for (int s = static_cast<int>(plan_.stages.size()) - 1; s >= 0; --s) BRIGADE_TRY(visit(s));
    for (int d = 0; d < static_cast<int>(plan_.domains.size()); ++d) set_start(d);
    for (int s = 0; s < static_cast<int>(plan_.stages.size()); ++s) set_stage(s);
    return {};
  }

 private:
  PlanDomain& domain(int d) { return plan_.domains[static_cast<std::size_t>(d)]; }
  PlanDomain& root_of(int d) { return domain(root_domain(plan_, d)); }
  const Position& position(int s) const { return positions_[static_cast<std::size_t>(s)]; }

  /// Its source records where each epoch ends.
  bool is_open_ended(int d) {
    const auto& sources = root_of(d).sources;
    return std::any_of(sources.begin(), sources.end(), [&](int source) {
      return !plan_.stages[static_cast<std::size_t>(source)].indexed;
    });
  }

  /// Numbers of an epoch; 0: not known.
  std::uint64_t period(int d) {
    const PlanDomain& root = root_of(d);
    return multiply_saturating(round_up(root.samples, root.multiple), domain(d).fan_out);
  }

  Result<void> set_samples() {
    std::map<std::string, SourceFacts> facts;
    for (const Position& one : positions_)
      for (const SourceFacts& source : one.sources) {
        const auto [known, added] = facts.emplace(source.stage, source);
        if (!added && !(known->second == source))
          return Error{concat("the positions of its consumers disagree about the source ",
                              quote(source.stage))};
      }
    for (PlanDomain& one : plan_.domains)
      for (const int source : one.sources) {
        PlanStage& stage = plan_.stages[static_cast<std::size_t>(source)];
        const auto found = facts.find(stage.name);
        if (found == facts.end()) continue;
        one.samples = found->second.samples;
        stage.fingerprint = found->second.fingerprint;
      }
    return {};
  }

  /// How far its lanes reach up, in the domains that they read.
  Result<void> visit(int s) {
    const PlanStage& stage = plan_.stages[static_cast<std::size_t>(s)];
    if (stage.is_cache()) visit_lane(stage.lanes[1], {});
    for (std::size_t l = 1; stage.free_outputs != 0 && l < stage.lanes.size(); ++l)
      visit_lane(stage.lanes[l], beginning_of(stage));
    if (stage.kind != StageKind::consumer) return {};
    std::vector<LanePosition> at = position(s).lanes;
    if (at.empty()) at.resize(stage.lanes.size());
    if (at.size() != stage.lanes.size())
      return Error{concat("stage ", quote(stage.name), " has ", stage.lanes.size(),
                          " sources and had ", at.size())};
    for (std::size_t l = 0; l < stage.lanes.size(); ++l) visit_lane(stage.lanes[l], at[l]);
    return {};
  }

  void visit_lane(const PlanLane& lane, const LanePosition& at) {
    if (is_open_ended(lane.domain)) return lower_to(root_of(lane.domain), epoch_of(lane, at));
    lower_to(root_of(lane.domain), number_of_position(lane, at) / domain(lane.domain).fan_out);
  }

  void lower_to(const PlanDomain& root, std::uint64_t at) {
    std::uint64_t& lowest = lowest_[index_of(root)];
    lowest = std::min(lowest, at);
  }

  /// Where a stage that numbers its outputs anew begins: with the lowest epoch of its readers, all
  /// of which lie below it.
  LanePosition beginning_of(const PlanStage& stage) const {
    const auto output = static_cast<std::size_t>(stage.lanes.front().domain);
    return {lowest_[output] == kUnset ? 0 : lowest_[output], 0};
  }

  std::size_t index_of(const PlanDomain& root) const {
    return static_cast<std::size_t>(&root - plan_.domains.data());
  }

  std::uint64_t number_of_position(const PlanLane& lane, const LanePosition& at) {
    const std::uint64_t epoch = period(lane.domain);
    const std::uint64_t end = multiply_saturating(domain_epochs(plan_, lane.domain), epoch);
    return std::min(end, add_saturating(multiply_saturating(at.epoch, epoch), at.index));
  }

  std::uint64_t epoch_of(const PlanLane& lane, const LanePosition& at) const {
    return std::min(at.epoch, domain_epochs(plan_, lane.domain));
  }

  void set_start(int d) {
    PlanDomain& one = domain(d);
    const PlanDomain& root = root_of(d);
    const std::uint64_t lowest = lowest_[index_of(root)];
    if (lowest == kUnset) return;
    if (is_open_ended(d)) {
      one.first_epoch = lowest;
      return;
    }
    one.start = lowest / root.multiple * root.multiple * one.fan_out;
    one.first_epoch = period(d) == 0 ? 0 : one.start / period(d);
  }

  void set_stage(int s) {
    PlanStage& stage = plan_.stages[static_cast<std::size_t>(s)];
    stage.epoch_ends_told = domain(stage.lanes.front().domain).first_epoch;
    for (std::size_t l = 1; stage.free_outputs != 0 && l < stage.lanes.size(); ++l)
      set_lane(stage.lanes[l], beginning_of(stage));
    const Position& at = position(s);
    if (stage.kind != StageKind::consumer) return;
    stage.epoch_ends_told = at.epoch_ends_told;
    if (at.lanes.empty()) return;
    for (std::size_t l = 0; l < stage.lanes.size(); ++l) {
      PlanLane& lane = stage.lanes[l];
      set_lane(lane, at.lanes[l]);
      stage.holes_possible |= lane.resume_at > domain(lane.domain).start;
    }
    stage.restored = stage.saves && !at.digest.empty();
    stage.samples_before = at.run == plan_.run_id ? at.samples : 0;
    for (const SamplePlace& place : at.quarantined) set_quarantined(place);
    for (const SamplePlace& place : at.skipped) set_skipped(place);
  }

  void set_lane(PlanLane& lane, const LanePosition& at) {
    if (is_open_ended(lane.domain))
      lane.resume_epoch = epoch_of(lane, at);
    else
      lane.resume_at = number_of_position(lane, at);
  }

  /// Null: the plan has no such lane.
  PlanStage* stage_at(const SamplePlace& place) {
    const auto found =
        std::find_if(plan_.stages.begin(), plan_.stages.end(), [&](const PlanStage& stage) {
          return stage.name == place.stage && place.lane < stage.lanes.size();
        });
    return found == plan_.stages.end() ? nullptr : &*found;
  }

  void set_quarantined(const SamplePlace& place) {
    PlanStage* const stage = stage_at(place);
    if (stage == nullptr) return;
    const int in = stage->lanes[place.lane].domain;
    if (is_open_ended(in)) return;
    const std::uint64_t number = place.epoch * period(in) + place.index;
    const std::uint64_t entry = lane_number(static_cast<int>(place.lane), number);
    auto& list = stage->quarantined;
    if (std::find(list.begin(), list.end(), entry) == list.end()) list.push_back(entry);
  }

  /// What fails at the beginning or after it is counted when it is met again.
  void set_skipped(const SamplePlace& place) {
    PlanStage* const stage = stage_at(place);
    if (stage == nullptr || !stage->on_error.skip) return;
    const int in = stage->lanes[place.lane].domain;
    const bool is_met_again = is_open_ended(in)
                                  ? place.epoch >= domain(in).first_epoch
                                  : place.epoch * period(in) + place.index >= domain(in).start;
    if (is_met_again) return;
    const PlanPlace one{static_cast<int>(place.lane), place.epoch, place.index};
    auto& list = stage->skipped;
    if (std::find(list.begin(), list.end(), one) == list.end()) list.push_back(one);
  }

  Plan& plan_;
  const std::vector<Position>& positions_;
  /// By root domain, of all positions in it: a number, or an epoch where it is open-ended.
  std::vector<std::uint64_t> lowest_;
};

}  // namespace

std::vector<std::string> stages_that_forget(const Plan& plan) {
  std::vector<std::string> names;
  for (const PlanStage& stage : plan.stages)
    if (stage.stateful && !stage.saves) names.push_back(stage.name);
  return names;
}

Result<void> check_resumable(const Plan& plan) {
  for (const PlanStage& stage : plan.stages) {
    if (stage.kind == StageKind::producer && !stage.indexed)
      return Error{concat("the source ", quote(stage.name),
                          " is a stream: what it gave before cannot be found again; run without "
                          "--resume")};
    if (stage.free_outputs != 0 && stage.lanes.size() > 2)
      return Error{concat("stage ", quote(stage.name),
                          " takes samples of several sources as they come, and another run "
                          "would take them in another order; run without --resume")};
  }
  return {};
}

void forget_past(Plan& plan) {
  for (PlanDomain& domain : plan.domains) domain.start = domain.first_epoch = domain.samples = 0;
  for (PlanStage& stage : plan.stages) {
    stage.restored = false;
    stage.fingerprint = stage.epoch_ends_told = stage.samples_before = 0;
    stage.quarantined.clear();
    stage.skipped.clear();
    for (PlanLane& lane : stage.lanes) lane.resume_at = lane.resume_epoch = 0;
  }
}

Result<void> resume_plan(Plan& plan, const std::vector<Position>& positions) {
  BRIGADE_TRY(check_resumable(plan));
  return Resume(plan, positions).run();
}

}  // namespace brigade
