// Resumed runs, streams with several replicas, and a ring above a zip that is reached on ways of
// different lengths.

#include "tests/model/scenario.h"
#include "tests/model/shapes.h"

namespace brigade::model {
namespace {

// src (tasks of 2) -> left, which resumes at 1, and right, which resumes at 3: src starts at 0.
Stages two_positions(int readers) {
  Stages stages = resumed(resumed(broadcast(1, readers, 4), 1, 1), 2, 3);
  stages[0].task_size = 2;
  return stages;
}

}  // namespace

std::vector<Scenario> small_resume_scenarios() {
  return {
      {.name = "resume_line",
       .about = "1 -> 2 -> 1, the consumer resumes at 2",
       .stages = resumed(line(2, 2, 4), 2, 2),
       .deaths = 1,
       .states_min = 2'100'000},
      {.name = "resume_two_positions",
       .about = "two consumers resume at 1 and 3, the source at 0",
       .stages = two_positions(2),
       .deaths = 1,
       .states_min = 2'500'000},
      {.name = "resume_zip",
       .about = "2 and 1 -> 1, resumes at 1; one source has tasks of 2",
       .stages = resumed(task_sizes(zip(1, 1, 4), 2, 1), 2, 1),
       .deaths = 1,
       .states_min = 50'000},
      {.name = "resume_poison",
       .about = "1 -> 2, the poisoned sample is the first after the position",
       .stages = poisoned(resumed(edge(1, 2, 2, 3), 1, 1), 1, 0b010),
       .tallies = true,
       .states_min = 65'000},
      {.name = "stream_last_ends",
       .about = "the last of two replicas to acknowledge sets the end",
       .stages = streaming(task_sizes(edge(2, 1, 2, 1), 1, 2)),
       .deaths = 1,
       .tallies = true,
       .states_min = 3'100'000},
      {.name = "stream_last_ends_not_replaced",
       .about = "one of them dies: the repair acknowledges for it",
       .stages = streaming(edge(2, 1, 2, 1)),
       .deaths = 1,
       .restart = false,
       .tallies = true,
       .states_min = 1'500'000},
      {.name = "long_way",
       .about = "src -> a, g = 2 -> b, g = 4 -> zip, and src -> zip: the ring holds what b needs",
       .stages = zip_of_long_way(4, 8),
       .states_min = 800'000},
  };
}

std::vector<Scenario> large_resume_scenarios() {
  return {
      {.name = "large_long_way_death",
       .about = "src -> a, g = 2 -> b, g = 4 -> zip, and src -> zip",
       .stages = zip_of_long_way(4, 8),
       .deaths = 1},
      {.name = "large_stream_two_writers_death",
       .about = "a stream with two replicas, the last of which ends it",
       .stages = streaming(edge(2, 1, 2, 2)),
       .deaths = 1,
       .tallies = true},
      {.name = "large_resume_two_positions_two_deaths",
       .about = "two consumers resume at 1 and 3",
       .stages = two_positions(2),
       .deaths = 2},
  };
}

std::vector<Scenario> resume_controls() {
  return {
      {.name = "resume_at_last_consumer",
       .stages = two_positions(1),
       .fault = Fault::kResumeAtLastConsumer},
      {.name = "resume_not_rounded", .stages = two_positions(1), .fault = Fault::kResumeNotRounded},
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

}  // namespace brigade::model
