#include "pipeline/process/stop_ends.h"

#include <algorithm>

#include "pipeline/plan/lanes.h"
#include "transports/stop.h"

namespace brigade {
namespace {

class StopEnds {
 public:
  StopEnds(const Plan& plan, Control<SystemPolicy>& control) : plan_(plan), control_(control) {
    for (std::size_t d = 0; d < plan.domains.size(); ++d)
      ends_.push_back(claimed_end(control, static_cast<int>(d), plan.domains[d].multiple));
  }

  std::vector<std::uint64_t> run() {
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
  std::uint64_t period(int domain) const {
    return control_.domains[static_cast<std::size_t>(domain)]->epoch_period.value.load();
  }
  std::uint64_t fan_out(int domain) const {
    return plan_.domains[static_cast<std::size_t>(domain)].fan_out;
  }
  std::uint64_t& end_of(int domain) {
    return ends_[static_cast<std::size_t>(root_domain(plan_, domain))];
  }

  void finish_turns(const PlanStage& stage) {
    for (std::size_t later = 0; later < stage.lanes.size(); ++later) {
      const std::uint64_t epochs = begun(stage.lanes[later].domain);
      for (std::size_t turn = 0; turn < stage.lanes.size(); ++turn)
        if (turn != later && epochs > 0)
          finish(stage.lanes[turn].domain, turn < later ? epochs : epochs - 1);
    }
  }

  /// How many epochs of a domain have begun. Of one that is numbered anew: above it, where as many
  /// have begun or more.
  std::uint64_t begun(int domain) {
    std::uint64_t most = 0;
    for (const int above : numbered_anew_from(domain)) most = std::max(most, begun(above));
    if (period(domain) == 0 || end_of(domain) == kNever) return most;
    const std::uint64_t root_period = period(domain) / fan_out(domain);
    return (end_of(domain) + root_period - 1) / root_period;
  }

  /// So many epochs of a domain, if it has them; or of those that it is made of.
  void finish(int domain, std::uint64_t epochs) {
    for (const int above : numbered_anew_from(domain)) finish(above, epochs);
    if (period(domain) == 0 || end_of(domain) == kNever) return;
    epochs = std::min(epochs, domain_epochs(plan_, domain));
    raise(domain, epochs * (period(domain) / fan_out(domain)));
  }

  /// The domains of the samples that a stage numbers anew to make those of this one.
  std::vector<int> numbered_anew_from(int domain) const {
    std::vector<int> above;
    for (const int source :
         plan_.domains[static_cast<std::size_t>(root_domain(plan_, domain))].sources) {
      const PlanStage& stage = plan_.stages[static_cast<std::size_t>(source)];
      if (stage.free_outputs == 0) continue;
      for (std::size_t l = 1; l < stage.lanes.size(); ++l) above.push_back(stage.lanes[l].domain);
    }
    return above;
  }

  void raise(int domain, std::uint64_t end) {
    if (end_of(domain) >= end) return;
    end_of(domain) = end;
    changed_ = true;
  }

  /// What a cache is to give beyond what was claimed of it may have to be kept first.
  void fill(const PlanStage& cache) {
    const int given = cache.lanes[0].domain;
    const int kept = cache.lanes[1].domain;
    const auto multiple = plan_.domains[static_cast<std::size_t>(given)].multiple;
    if (end_of(given) > claimed_end(control_, given, multiple) && end_of(given) != kNever)
      finish(kept, 1);
  }

  const Plan& plan_;
  Control<SystemPolicy>& control_;
  std::vector<std::uint64_t> ends_;  // of domains that have sources
  bool changed_ = false;
};

}  // namespace

std::vector<std::uint64_t> stop_ends(const Plan& plan, Control<SystemPolicy>& control) {
  return StopEnds(plan, control).run();
}

}  // namespace brigade
