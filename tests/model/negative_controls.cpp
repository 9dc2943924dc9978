// One mistake each, in a scenario where it can show.

#include "tests/model/scenario.h"
#include "tests/model/shapes.h"

namespace brigade::model {
namespace {

std::vector<Scenario> work_faults() {
  const Stages one_hole = filtering(edge(1, 2, 2, 3), 1, 0b010);
  const Stages one_failure = failing(edge(1, 2, 2, 3), 1, 0b010);
  return {
      {.name = "window_too_large", .stages = edge(1, 1, 2, 4), .fault = Fault::kWindowTooLarge},
      {.name = "claim_before_memory",
       .stages = with_rows(line(2, 2, 4), 0, 4),
       .deaths = 1,
       .restart = false,
       .fault = Fault::kClaimBeforeMemory},
      {.name = "plain_done", .stages = edge(2, 1, 2, 3), .fault = Fault::kPlainDone},
      {.name = "plain_low",
       .stages = edge(1, 1, 2, 3),
       .wake = Wake::kAtOnce,
       .fault = Fault::kPlainLow},
      {.name = "one_tally_entry",
       .stages = one_hole,
       .deaths = 1,
       .tallies = true,
       .fault = Fault::kOneTallyEntry},
      {.name = "tally_tie",
       .stages = filtering(edge(1, 1, 2, 3), 1, 0b111),
       .deaths = 2,
       .tallies = true,
       .fault = Fault::kTallyTie},
      {.name = "tally_after_done",
       .stages = one_hole,
       .deaths = 1,
       .tallies = true,
       .fault = Fault::kTallyAfterDone},
      {.name = "skip_after_done",
       .stages = one_failure,
       .deaths = 1,
       .tallies = true,
       .fault = Fault::kSkipAfterDone},
      {.name = "skip_without_looking",
       .stages = one_failure,
       .deaths = 1,
       .tallies = true,
       .fault = Fault::kSkipWithoutLooking},
  };
}

std::vector<Scenario> wait_faults() {
  return {
      {.name = "no_recheck", .stages = edge(1, 1, 2, 3), .fault = Fault::kNoRecheck},
      {.name = "bell_after_recheck", .stages = edge(1, 1, 2, 3), .fault = Fault::kBellAfterRecheck},
      {.name = "no_wake_before_wait",
       .stages = edge(1, 1, 2, 3),
       .fault = Fault::kNoWakeBeforeWait},
      {.name = "no_wake_before_leave",
       .stages = edge(1, 1, 2, 3),
       .fault = Fault::kNoWakeBeforeLeave},
  };
}

std::vector<Scenario> repair_faults() {
  const Stages readers = edge(1, 2, 2, 3);
  const Stages one_hole = filtering(readers, 1, 0b010);
  return {
      {.name = "no_reopen", .stages = readers, .deaths = 1, .fault = Fault::kNoReopen},
      {.name = "no_repair_advance",
       .stages = edge(2, 1, 2, 3),
       .deaths = 1,
       .fault = Fault::kNoRepairAdvance},
      {.name = "no_repairs_count",
       .stages = readers,
       .deaths = 1,
       .restart = false,
       .fault = Fault::kNoRepairsCount},
      {.name = "repairs_count_first",
       .stages = readers,
       .deaths = 1,
       .restart = false,
       .fault = Fault::kRepairsCountFirst},
      {.name = "no_repair_bells", .stages = readers, .deaths = 1, .fault = Fault::kNoRepairBells},
      {.name = "restart_before_repair",
       .stages = readers,
       .deaths = 1,
       .fault = Fault::kRestartBeforeRepair},
      {.name = "no_settle",
       .stages = one_hole,
       .deaths = 1,
       .tallies = true,
       .fault = Fault::kNoSettle},
      {.name = "settle_after_reopen",
       .stages = one_hole,
       .deaths = 1,
       .tallies = true,
       .fault = Fault::kSettleAfterReopen},
      {.name = "quarantine_after_open",
       .stages = poisoned(readers, 1, 0b010),
       .tallies = true,
       .fault = Fault::kQuarantineAfterOpen},
      {.name = "bells_of_neighbours_only",
       .stages = streaming(line(1, 2, 2)),
       .deaths = 1,
       .tallies = true,
       .fault = Fault::kBellsOfNeighboursOnly},
  };
}

std::vector<Scenario> end_faults() {
  return {
      {.name = "ack_before_finish",
       .stages = edge(1, 1, 2, 3),
       .stop = true,
       .fault = Fault::kAckBeforeFinish},
      {.name = "ack_then_claim",
       .stages = edge(1, 1, 2, 3),
       .stop = true,
       .fault = Fault::kAckThenClaim},
      {.name = "end_from_low",
       .stages = edge(2, 1, 2, 2),
       .deaths = 1,
       .stop = true,
       .restart = false,
       .states_min = 1'500'000,
       .fault = Fault::kEndFromLow},
      {.name = "end_without_bells",
       .stages = edge(1, 1, 2, 3),
       .stop = true,
       .fault = Fault::kEndWithoutBells},
      {.name = "end_not_rounded",
       .stages = task_sizes(edge(1, 1, 2, 4), 1, 2),
       .stop = true,
       .fault = Fault::kEndNotRounded},
      {.name = "rounds_not_in_L",
       .stages = fixed(edge(1, 2, 2, 3), 1),
       .tallies = true,
       .fault = Fault::kRoundsNotInL},
      {.name = "epochs_unordered",
       .stages = epochs_of_two(2, 1, 1),
       .fault = Fault::kEpochsUnordered},
  };
}

}  // namespace

std::vector<Scenario> negative_controls() {
  std::vector<Scenario> all = work_faults();
  for (const auto& more :
       {wait_faults(), repair_faults(), end_faults(), resume_controls(), free_controls()}) {
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

}  // namespace brigade::model
