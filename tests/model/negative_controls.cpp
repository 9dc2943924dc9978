// One mistake each, in a scenario where it can show.

#include "tests/model/scenario.h"
#include "tests/model/shapes.h"

namespace brigade::model {
namespace {

std::vector<Scenario> work_faults() {
  const Stages one_empty = filtering(edge(1, 2, 2, 3), 1, 0b010);
  const Stages one_failure = failing(edge(1, 2, 2, 3), 1, 0b010);
  return {
      {.name = "window_too_large", .stages = edge(1, 1, 2, 4), .fault = Fault::kWindowTooLarge},
      {.name = "claim_before_memory",
       .stages = with_slots(line(2, 2, 4), 0, 4),
       .deaths = 1,
       .restart = false,
       .fault = Fault::kClaimBeforeMemory},
      {.name = "plain_done", .stages = edge(2, 1, 2, 3), .fault = Fault::kPlainDone},
      {.name = "plain_level", .stages = edge(1, 1, 2, 3), .fault = Fault::kPlainLevel},
      {.name = "one_tally_entry",
       .stages = one_empty,
       .deaths = 1,
       .tallies = true,
       .fault = Fault::kOneTallyEntry},
      {.name = "tally_tie",
       .stages = filtering(edge(1, 1, 2, 3), 1, 0b111),
       .deaths = 2,
       .tallies = true,
       .fault = Fault::kTallyTie},
      {.name = "tally_after_done",
       .stages = one_empty,
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
      {.name = "doorbell_after_recheck",
       .stages = edge(1, 1, 2, 3),
       .fault = Fault::kDoorbellAfterRecheck},
      {.name = "doorbell_after_bit", .stages = edge(1, 1, 2, 3), .fault = Fault::kDoorbellAfterBit},
      {.name = "no_wake", .stages = edge(1, 1, 2, 3), .fault = Fault::kNoWake},
      {.name = "no_wake_with_words",
       .stages = with_words(edge(1, 1, 2, 3), 0),
       .fault = Fault::kNoWake},
  };
}

std::vector<Scenario> repair_faults() {
  const Stages readers = edge(1, 2, 2, 3);
  const Stages one_empty = filtering(readers, 1, 0b010);
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
      {.name = "no_repair_doorbells",
       .stages = readers,
       .deaths = 1,
       .fault = Fault::kNoRepairDoorbells},
      {.name = "restart_before_repair",
       .stages = readers,
       .deaths = 1,
       .fault = Fault::kRestartBeforeRepair},
      {.name = "no_settle",
       .stages = one_empty,
       .deaths = 1,
       .tallies = true,
       .fault = Fault::kNoSettle},
      {.name = "settle_after_reopen",
       .stages = one_empty,
       .deaths = 1,
       .tallies = true,
       .fault = Fault::kSettleAfterReopen},
      {.name = "quarantine_after_open",
       .stages = poisoned(readers, 1, 0b010),
       .tallies = true,
       .fault = Fault::kQuarantineAfterOpen},
      {.name = "doorbells_of_neighbours_only",
       .stages = streaming(line(1, 2, 2)),
       .deaths = 1,
       .tallies = true,
       .fault = Fault::kDoorbellsOfNeighboursOnly},
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
      {.name = "end_from_level",
       .stages = edge(2, 1, 2, 2),
       .deaths = 1,
       .stop = true,
       .restart = false,
       .states_min = 1'500'000,
       .fault = Fault::kEndFromLevel},
      {.name = "end_without_doorbells",
       .stages = edge(1, 1, 2, 3),
       .stop = true,
       .fault = Fault::kEndWithoutDoorbells},
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
      {.name = "end_of_data_alone",
       .stages = streaming(edge(2, 1, 2, 1)),
       .tallies = true,
       .fault = Fault::kEndOfDataAlone},
      {.name = "gone_never_acknowledges",
       .stages = streaming(edge(2, 1, 2, 1)),
       .deaths = 1,
       .restart = false,
       .tallies = true,
       .fault = Fault::kGoneNeverAcknowledges},
      {.name = "ring_shorter_than_the_way", .stages = zip_of_long_way(2, 8)},
  };
}

}  // namespace

std::vector<Scenario> negative_controls() {
  std::vector<Scenario> all = work_faults();
  for (const auto& more : {wait_faults(), repair_faults(), end_faults()}) {
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

}  // namespace brigade::model
