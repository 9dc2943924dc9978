// Free stages: merge of two sources, repack, and the journal that outlives a death. Batches of
// two below, so that the end of an epoch is padded.

#include <utility>

#include "tests/model/scenario.h"
#include "tests/model/shapes.h"

namespace brigade::model {
namespace {

// Inputs: FULL, a hole, FULL with two outputs, FULL. Outputs: four, or with the pads of L = 2 five.
Stages repack_of_four(int rows) {
  return doubling(filtering(repack(4, rows, 2), 0, 0b0010), 1, 0b0100);
}

Scenario control(const char* name, Fault fault) {
  Scenario made{
      .name = name, .stages = repack_of_four(4), .deaths = 1, .tallies = true, .fault = fault};
  return made;
}

Scenario with_stages(Scenario scenario, Stages stages, int epochs) {
  scenario.stages = std::move(stages);
  scenario.epochs = epochs;
  return scenario;
}

Scenario without_tallies(Scenario scenario) {
  scenario.stages = with_rows(repack(4, 4, 2), 0, 1);
  scenario.tallies = false;
  return scenario;
}

Scenario stopped(Scenario scenario) {
  scenario.stop = true;
  return scenario;
}

}  // namespace

std::vector<Scenario> small_free_scenarios() {
  return {
      {.name = "repack",
       .about = "1 -> repack -> batches of 2; a hole, an input with two outputs; M = 2",
       .stages = repack_of_four(2),
       .deaths = 2,
       .tallies = true,
       .states_min = 1'000'000},
      {.name = "repack_pads",
       .about = "two epochs of three outputs, padded to 4",
       .stages = doubling(filtering(repack(3, 4, 2), 0, 0b001010), 1, 0b010101),
       .deaths = 1,
       .epochs = 2,
       .tallies = true,
       .states_min = 1'400'000},
      {.name = "merge",
       .about = "a and b -> merge -> batches of 2",
       .stages = doubling(merge(2, 1, 2, 2), 2, 0b0010),
       .deaths = 1,
       .states_min = 1'900'000},
      {.name = "merge_epochs",
       .about = "two epochs of three outputs, each padded to 4",
       .stages = merge(2, 1, 2, 2),
       .epochs = 2,
       .tallies = true,
       .states_min = 3'300'000},
      {.name = "repack_stop",
       .about = "a stop above: the end is lowered, the rest is padded",
       .stages = doubling(repack(3, 2, 2), 1, 0b0010),
       .deaths = 1,
       .stop = true,
       .tallies = true,
       .states_min = 2'400'000},
      {.name = "repack_stream",
       .about = "a stream above, whose pads have no outputs",
       .stages = with_samples(task_sizes(streaming(repack(3, 2, 2)), 2, 1), 3),
       .deaths = 1,
       .tallies = true,
       .states_min = 1'100'000},
      {.name = "repack_two_readers",
       .about = "read by two stages, the slower one keeps the rows",
       .stages = with_second_reader(doubling(repack(2, 2, 1), 1, 0b0001)),
       .deaths = 1,
       .states_min = 3'400'000},
  };
}

std::vector<Scenario> large_free_scenarios() {
  return {
      {.name = "large_merge_two_deaths",
       .about = "a and b, a hole, an input with two outputs",
       .stages = immortal_ends(doubling(filtering(merge(2, 1, 2, 2), 0, 0b0001), 2, 0b0010)),
       .deaths = 2,
       .tallies = true},
      {.name = "large_merge_epochs_death",
       .about = "two epochs of three outputs, each padded to 4; merge may die",
       .stages = immortal_ends(merge(2, 1, 2, 2)),
       .deaths = 1,
       .epochs = 2,
       .tallies = true},
      {
          .name = "large_merge_stop",
          .about = "each source may be stopped",
          .stages = merge(1, 1, 1, 1),
          .stop = true,
      },
      {.name = "large_merge_stop_death",
       .about = "each source may be stopped, merge may die",
       .stages = immortal_ends(merge(1, 1, 2, 2)),
       .deaths = 1,
       .stop = true,
       .tallies = true},
      {.name = "large_repack_two_writers",
       .about = "2 -> repack -> batches of 2",
       .stages = with_writers(repack_of_four(4), 2),
       .deaths = 1,
       .tallies = true},
  };
}

std::vector<Scenario> free_controls() {
  return {
      control("journal_in_place", Fault::kJournalInPlace),
      control("journal_index_first", Fault::kJournalIndexFirst),
      control("low_in_before_journal", Fault::kLowInBeforeJournal),
      control("no_discard", Fault::kNoDiscard),
      control("no_raise", Fault::kNoRaise),
      control("raise_after_settle", Fault::kRaiseAfterSettle),
      without_tallies(control("raise_without_wake", Fault::kRaiseWithoutWake)),
      control("journal_after_first_output", Fault::kJournalAfterFirstOutput),
      stopped(control("free_obeys_stop", Fault::kFreeObeysStop)),
      with_stages(control("no_pads_at_epoch", Fault::kNoPadsAtEpoch), merge(2, 1, 4, 2), 2),
  };
}

}  // namespace brigade::model
