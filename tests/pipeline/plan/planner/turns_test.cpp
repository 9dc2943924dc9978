#include "pipeline/plan/planner/turns.h"

#include <gtest/gtest.h>

#include "tests/support/small_plan.h"

namespace brigade {
namespace {

const Ports kTurnSlot{{"x", u8, {8}}};

/// train -> cut, test -> fit, both -> end, by turns; test is read beside them, too, where asked.
GraphBuilder by_turns(bool read_beside = false) {
  GraphBuilder graph;
  graph.producer("train", kTurnSlot);
  graph.producer("test", kTurnSlot);
  graph.transform("cut", {"train"}, kTurnSlot);
  graph.transform("fit", {"test"}, kTurnSlot);
  graph.consumer("end", {"cut", "fit"}, Join::epochs);
  if (read_beside) graph.consumer("beside", {"test"});
  return graph;
}

std::optional<Turn> turn(StageNumber reader, int source) { return Turn{reader, source}; }

TEST(Turns, AreTheSourcesOfAReaderByTurns) {
  GraphBuilder graph = by_turns();
  const Turns expected{turn(4, 0), turn(4, 1), turn(4, 0), turn(4, 1), {}};
  EXPECT_EQ(turns_of(graph.build()), expected);
  EXPECT_EQ(turns_of(plan_of(graph)), expected);
}

TEST(Turns, WhatIsReadBesideThemWorksAlways) {
  GraphBuilder graph = by_turns(true);
  const Turns expected{turn(4, 0), {}, turn(4, 0), turn(4, 1), {}, {}};
  EXPECT_EQ(turns_of(graph.build()), expected);
}

TEST(Turns, ACacheReadsWheneverSamplesCome) {
  GraphBuilder graph;
  graph.producer("train", kTurnSlot);
  graph.producer("val", kTurnSlot);
  graph.transform("kept", {"val"}, kTurnSlot).samples = 8;
  graph.type_of("kept").contract.cache = true;
  graph.consumer("end", {"train", "kept"}, Join::epochs);
  const Turns expected{turn(3, 0), {}, turn(3, 1), {}};
  EXPECT_EQ(turns_of(graph.build()), expected);
  EXPECT_EQ(turns_of(plan_of(graph)), expected);
}

TEST(Turns, OtherJoinsHaveNone) {
  GraphBuilder graph;
  graph.producer("a", kTurnSlot);
  graph.producer("b", kTurnSlot);
  graph.consumer("end", {"a", "b"}, Join::merge);
  EXPECT_EQ(turns_of(graph.build()), Turns(3));
}

TEST(Busiest, IsWhatWorksAlwaysAndTheLargestTurn) {
  GraphBuilder graph = by_turns();
  const Turns turns = turns_of(graph.build());
  const Busiest found = busiest(turns, {1, 2, 3, 5, 7});
  EXPECT_EQ(found.sum, 2u + 5u + 7u);
  EXPECT_EQ(found.stages, (ByStage<bool>{false, true, false, true, true}));
  EXPECT_EQ(busiest(Turns(3), {1, 2, 3}).sum, 6u);
  EXPECT_EQ(busiest(Turns(2), {~std::uint64_t{0}, 3}).sum, ~std::uint64_t{0});
}

}  // namespace
}  // namespace brigade
