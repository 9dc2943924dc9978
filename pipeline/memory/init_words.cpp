#include "pipeline/memory/init_words.h"

namespace brigade {

void begin_at(const Plan& plan, const ResumePoint& resume, Control<SystemPolicy>& control) {
  for (const StageNumber s : resume.stages.numbers()) {
    const PlanStage& stage = plan.stages[s];
    const ResumeStage& before = resume.stages[s];
    for (int r = 0; r < stage.replicas; ++r)
      control.replicas[stage.first_replica + r].ended.value.store(before.epoch_ends_told);
    for (const std::uint64_t entry : before.quarantined) control.stages[s].quarantine.append(entry);
    control.stages[s].fingerprint->value.store(before.fingerprint);
  }
  for (const IndexSpaceNumber d : resume.index_spaces.numbers()) {
    NumberList<SystemPolicy>& ends = control.epoch_ends[d];
    for (std::uint64_t e = 0; e < resume.index_spaces[d].first_epoch && e < ends.capacity(); ++e)
      ends.record(e, 0);  // numbers begin after them
  }
}

}  // namespace brigade
