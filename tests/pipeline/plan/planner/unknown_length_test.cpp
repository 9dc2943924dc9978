#include "pipeline/plan/planner/unknown_length.h"

#include <gtest/gtest.h>

#include "pipeline/plan/plan_check.h"
#include "pipeline/plan/planner/planner.h"
#include "tests/support/graph_builder.h"
#include "tests/support/plan_limits.h"

namespace brigade {
namespace {

const Ports kRepackSlot{{"x", u8, {784}}};
using Texts = std::vector<std::string>;

/// a -> filter -> full (flat_map) -> end, and a -> other.
GraphBuilder repack_graph() {
  GraphBuilder graph;
  graph.producer("a", kRepackSlot);
  graph.transform("filter", {"a"}, kRepackSlot);
  graph.transform("full", {"filter"}, kRepackSlot).outputs_per_input = 2;
  graph.type_of("full").contract.numbering = Numbering::flat_map;
  ValidStage& end = graph.consumer("end", {"full"});
  end.batched = true;
  end.sources[0].batch = 100;
  graph.consumer("other", {"a"});
  return graph;
}

std::vector<std::string> repack_messages(GraphBuilder& graph) {
  std::vector<std::string> messages;
  for (const PlanProblem& problem : plan_graph(graph.build(), small_machine()).problems)
    messages.push_back(problem.message);
  return messages;
}

TEST(FlatMap, HasOneReplicaAndTakesOneSampleAtATime) {
  GraphBuilder graph = repack_graph();
  graph.stage("full").replicas = 0;
  EXPECT_EQ(plan_graph(graph.build(), small_machine()).plan.stages[2].replicas, 1);
  graph.stage("full").replicas = 2;
  graph.stage("full").chunk = 4;
  EXPECT_EQ(repack_messages(graph),
            Texts({"\"full_type\" numbers its outputs in the order in which they come: it has one "
                   "replica, found 2",
                   "\"full_type\" works on one sample after the other: `chunk:` has no effect"}));
  graph = repack_graph();
  graph.stage("full").batched = true;
  graph.stage("full").sources[0].batch = 8;
  EXPECT_EQ(repack_messages(graph), Texts({"\"full_type\" is a flat_map and must take "
                                           "samples, not batches"}));
}

TEST(FlatMap, CannotBeZippedWithTheOriginal) {
  GraphBuilder graph = repack_graph();
  graph.consumer("pair", {"a", "full"}, Join::zip);
  EXPECT_EQ(repack_messages(graph),
            Texts({"join: zip puts samples of the same number side by side, but stage \"full\" "
                   "renumbers those of \"full\""}));
  GraphBuilder branches = repack_graph();
  branches.transform("left", {"full"}, kRepackSlot);
  branches.consumer("pair", {"left", "full"}, Join::zip);
  EXPECT_EQ(repack_messages(branches), Texts());
}

TEST(FlatMap, LeavesNoWholeRoundOut) {
  GraphBuilder graph = repack_graph();
  graph.stage("end").drop_last = true;
  graph.stage("end").fixed = true;
  EXPECT_EQ(repack_messages(graph), Texts());
  graph.stage("end").replicas = 2;
  EXPECT_EQ(repack_messages(graph),
            Texts({"drop_last and assign: fixed drop the last round of an epoch, but of "
                   "\"full\" nobody knows which round that is before it is over"}));
}

TEST(FlatMap, HasTheEpochsOfWhatItReads) {
  GraphBuilder graph;
  graph.graph().epochs = 5;
  graph.producer("a", kRepackSlot);
  graph.producer("b", kRepackSlot);
  graph.transform("both", {"a", "b"}, kRepackSlot, Join::merge);
  graph.type_of("both").contract.numbering = Numbering::flat_map;
  graph.consumer("end", {"both"});
  Plan plan = plan_graph(graph.build(), small_machine()).plan;
  const auto epochs_of = [&](StageNumber stage) {
    return index_space_epochs(plan, plan.stages[stage].queues[0].index_space);
  };
  EXPECT_EQ(epochs_of(2), 5u);
  PlanProblems problems;
  plan.index_spaces[0].epochs_max = plan.index_spaces[1].epochs_max = 1;  // as above a cache
  check_unknown_lengths(graph.build(), plan, problems);
  EXPECT_TRUE(problems.empty());
  EXPECT_EQ(epochs_of(3), 1u);
  plan.index_spaces[1].epochs_max = 5;
  check_unknown_lengths(graph.build(), plan, problems);
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].message,
            "join: merge puts the same epochs of its sources together, but \"a\" has 1 and \"b\" "
            "has 5");
}

TEST(FlatMap, RecordsSoManyEpochs) {
  GraphBuilder graph = repack_graph();
  graph.graph().epochs = kRecordedEpochsMax + 1;
  EXPECT_EQ(repack_messages(graph),
            Texts({"epochs: 65537 is above the limit of 65536 for a stage whose "
                   "epochs end where its data do"}));
}

TEST(FlatMap, BelowAStreamIsStillBelowIt) {
  GraphBuilder graph = repack_graph();
  graph.type_of("a").indexed = false;
  graph.stage("end").sources[0].max_wait_ns = 700;
  EXPECT_EQ(plan_graph(graph.build(), small_machine()).plan.stages[0].max_wait_ns, 700);
  graph.stage("end").drop_last = true;
  EXPECT_EQ(repack_messages(graph),
            Texts({"drop_last below a stream would drop every batch that is closed early"}));
}

TEST(Streams, AreReadWholeByEveryRankWithALine) {
  GraphBuilder graph;
  graph.producer("words", kRepackSlot);
  graph.type_of("words").indexed = false;
  graph.consumer("end", {"words"});
  EXPECT_TRUE(plan_graph(graph.build(), small_machine()).plan.warnings.empty());
  graph.graph().shard = {1, 4, Uneven::pad};
  EXPECT_EQ(
      plan_graph(graph.build(), small_machine()).plan.warnings,
      std::vector<std::string>{"stage \"words\" is a stream, which cannot be divided: each of "
                               "the 4 ranks reads all of it"});
  graph.type_of("words").contract.type = kApplicationType;
  EXPECT_TRUE(plan_graph(graph.build(), small_machine()).plan.warnings.empty())
      << "each rank's program feeds its own";
}

TEST(Streams, OfAsManyReplicasAsThePlanChoosesMayHaveSeveralEpochs) {
  GraphBuilder graph;
  graph.producer("words", kRepackSlot).replicas = 0;
  graph.type_of("words").indexed = false;
  graph.consumer("end", {"words"});
  graph.graph().epochs = 2;
  const PlanResult planned = plan_graph(graph.build(), small_machine());
  ASSERT_TRUE(planned.ok());
  EXPECT_EQ(planned.plan.stages[0].replicas, 1);
}

}  // namespace
}  // namespace brigade
