#include "pipeline/run/begin_at.h"

namespace brigade {

void begin_at(const Plan& plan, Control<SystemPolicy>& control) {
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    const PlanStage& stage = plan.stages[s];
    for (int r = 0; r < stage.replicas; ++r)
      control.replicas[stage.first_replica + r].ended.value.store(stage.epoch_ends_told);
    for (const std::uint64_t entry : stage.quarantined) control.stages[s].quarantine.append(entry);
    control.stages[s].fingerprint->value.store(stage.fingerprint);
  }
  for (std::size_t d = 0; d < plan.domains.size(); ++d) {
    NumberList<SystemPolicy>& ends = control.epoch_ends[d];
    for (std::uint64_t e = 0; e < plan.domains[d].first_epoch && e < ends.capacity(); ++e)
      ends.record(e, 0);  // numbers begin after them
  }
}

}  // namespace brigade
