// Larger ones for long runs: up to 100 million states and 1.6 GB each.

#include "tests/model/scenario.h"
#include "tests/model/shapes.h"

namespace brigade::model {

namespace {

std::vector<Scenario> replicas() {
  return {
      {.name = "large_two_and_two", .about = "2 -> 2", .stages = edge(2, 2, 2, 3)},
      {.name = "large_two_and_two_death",
       .about = "2 -> 2, M = 1",
       .stages = edge(2, 2, 1, 2),
       .deaths = 1},
      {.name = "large_two_in_the_middle_death",
       .about = "1 -> 2 -> 1, the ring goes round",
       .stages = line(2, 2, 3),
       .deaths = 1},
      {.name = "large_three_in_the_middle", .about = "1 -> 3 -> 1", .stages = line(3, 2, 2)},
      {.name = "large_two_and_two_death_wide",
       .about = "2 -> 2, M = 2",
       .stages = edge(2, 2, 2, 2),
       .deaths = 1},
      {.name = "three_readers_death", .about = "1 -> 3", .stages = edge(1, 3, 2, 2), .deaths = 1},
      {.name = "large_three_readers_death",
       .about = "1 -> 3",
       .stages = edge(1, 3, 3, 3),
       .deaths = 1},
      {.name = "large_three_writers_death",
       .about = "3 -> 1",
       .stages = edge(3, 1, 2, 2),
       .deaths = 1},
      {.name = "large_two_writers_two_deaths",
       .about = "2 -> 1",
       .stages = edge(2, 1, 2, 3),
       .deaths = 2},
  };
}

std::vector<Scenario> shapes_and_empty_slots() {
  return {
      {.name = "large_zip_death", .about = "1 and 1 -> 2", .stages = zip(1, 2, 2), .deaths = 1},
      {.name = "large_broadcast_death",
       .about = "1 -> 2 and 1",
       .stages = broadcast(1, 2, 2),
       .deaths = 1},
      {.name = "large_long_way_death",
       .about = "src -> a, g = 2 -> b, g = 4 -> zip, and src -> zip",
       .stages = zip_of_long_way(4, 8),
       .deaths = 1},
      {.name = "large_tally_two_deaths",
       .about = "1 -> 2, two empty slots",
       .stages = filtering(edge(1, 2, 2, 3), 1, 0b110),
       .deaths = 2,
       .tallies = true},
      {.name = "large_skips_two_deaths",
       .about = "1 -> 2, two samples fail",
       .stages = failing(edge(1, 2, 2, 3), 1, 0b011),
       .deaths = 2,
       .tallies = true},
      {.name = "large_poison_and_kill",
       .about = "1 -> 2, a poisoned sample and a kill",
       .stages = poisoned(edge(1, 2, 2, 2), 1, 0b010),
       .deaths = 1,
       .tallies = true},
  };
}

std::vector<Scenario> ends() {
  return {
      {.name = "large_stop", .about = "2 -> 1", .stages = edge(2, 1, 2, 3), .stop = true},
      {.name = "large_stop_death",
       .about = "2 -> 1",
       .stages = edge(2, 1, 2, 2),
       .deaths = 1,
       .stop = true},
      {.name = "large_stop_fixed_death",
       .about = "1 -> 2, equal counts",
       .stages = fixed(edge(1, 2, 2, 4), 1),
       .deaths = 1,
       .stop = true},
      {.name = "large_stop_zip_death",
       .about = "1 and 1 -> 1",
       .stages = zip(1, 1, 3),
       .deaths = 1,
       .stop = true},
      {.name = "large_stream_line_two_deaths",
       .about = "1 -> 1 -> 1",
       .stages = streaming(line(1, 2, 3)),
       .deaths = 2,
       .tallies = true},
      {.name = "large_stream_two_writers_death",
       .about = "a stream with two replicas, the last of which ends it",
       .stages = streaming(edge(2, 1, 2, 2)),
       .deaths = 1,
       .tallies = true},
      {.name = "large_epochs_death",
       .about = "two epochs of a, b -> 2",
       .stages = epochs_of_two(2, 1, 1),
       .deaths = 1,
       .epochs = 2},
      {.name = "large_epochs_stop_death",
       .about = "two epochs of a, b -> 1",
       .stages = with_slots(epochs_of_two(1, 1, 1), 0, 1),
       .deaths = 1,
       .epochs = 2,
       .stop = true},
  };
}

}  // namespace

std::vector<Scenario> large_scenarios() {
  std::vector<Scenario> all = replicas();
  for (const auto& more : {shapes_and_empty_slots(), ends()}) {
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

}  // namespace brigade::model
