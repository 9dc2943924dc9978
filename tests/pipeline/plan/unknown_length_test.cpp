#include "pipeline/plan/unknown_length.h"

#include <gtest/gtest.h>

#include "pipeline/plan/plan_check.h"
#include "pipeline/plan/planner.h"
#include "tests/support/graph_builder.h"
#include "tests/support/plan_limits.h"

namespace brigade {
namespace {

const Ports kRow{{"x", u8, {784}}};
using Texts = std::vector<std::string>;

/// a -> filter -> full (free numbering) -> end, and a -> other.
GraphBuilder repack_graph() {
  GraphBuilder graph;
  graph.producer("a", kRow);
  graph.transform("filter", {"a"}, kRow);
  graph.transform("full", {"filter"}, kRow).outputs_per_input = 2;
  graph.type_of("full").contract.numbering = Numbering::free;
  ValidStage& end = graph.consumer("end", {"full"});
  end.batched = true;
  end.sources[0].batch = 100;
  graph.consumer("other", {"a"});
  return graph;
}

std::vector<std::string> messages_of(GraphBuilder& graph) {
  std::vector<std::string> messages;
  for (const PlanProblem& problem : plan_graph(graph.build(), small_machine()).problems)
    messages.push_back(problem.message);
  return messages;
}

TEST(FreeNumbering, HasALaneForItsOutputAndADomainOfItsOwn) {
  GraphBuilder graph = repack_graph();
  const PlanResult planned = plan_graph(graph.build(), small_machine());
  ASSERT_TRUE(planned.problems.empty());
  const Plan& plan = planned.plan;
  const PlanStage& full = plan.stages[2];
  EXPECT_EQ(full.free_outputs, 2u);
  ASSERT_EQ(full.lanes.size(), 2u);
  EXPECT_TRUE(full.lanes[0].inputs.empty());
  EXPECT_EQ(full.lanes[1].inputs.at(0).stage, 1);
  EXPECT_EQ(full.lanes[1].domain, plan.stages[0].lanes[0].domain);
  EXPECT_NE(full.lanes[0].domain, full.lanes[1].domain);
  EXPECT_EQ(plan.stages[3].lanes[0].domain, full.lanes[0].domain);
  // The batches of 100 are those of the new numbering, and nobody's above it.
  EXPECT_EQ(plan.domains[static_cast<std::size_t>(full.lanes[0].domain)].multiple, 100u);
  EXPECT_EQ(plan.domains[static_cast<std::size_t>(full.lanes[1].domain)].multiple % 64, 0u);
  EXPECT_EQ(plan.stages[1].readers, (std::vector<std::pair<int, int>>{{2, 1}}));
  EXPECT_TRUE(check_plan(plan).ok());
}

TEST(FreeNumbering, OfSeveralSourcesHasALaneForEach) {
  GraphBuilder graph;
  graph.producer("a", kRow);
  graph.producer("b", kRow);
  graph.transform("both", {"a", "b"}, kRow, Join::merge);
  graph.type_of("both").contract.numbering = Numbering::free;
  graph.consumer("end", {"both"});
  const PlanResult planned = plan_graph(graph.build(), small_machine());
  ASSERT_TRUE(planned.problems.empty());
  EXPECT_EQ(planned.plan.stages[2].lanes.size(), 3u);
  EXPECT_EQ(planned.plan.domains.size(), 3u);
  EXPECT_TRUE(check_plan(planned.plan).ok());
  EXPECT_TRUE(comes_from(planned.plan, planned.plan.stages[3].lanes[0].domain, 0));
  EXPECT_FALSE(comes_from(planned.plan, 0, planned.plan.stages[3].lanes[0].domain));
}

TEST(FreeNumbering, NoHolesAreLeftBelowIt) {
  GraphBuilder graph = repack_graph();
  graph.type_of("filter").contract.may_drop = true;
  const Plan plan = plan_graph(graph.build(), small_machine()).plan;
  EXPECT_TRUE(plan.stages[1].holes_possible);
  EXPECT_FALSE(plan.stages[3].holes_possible);
}

TEST(FreeNumbering, HasOneReplicaAndTakesOneSampleAtATime) {
  GraphBuilder graph = repack_graph();
  graph.stage("full").replicas = 0;
  EXPECT_EQ(plan_graph(graph.build(), small_machine()).plan.stages[2].replicas, 1);
  graph.stage("full").replicas = 2;
  graph.stage("full").rows = 4;
  EXPECT_EQ(messages_of(graph),
            Texts({"\"full_type\" numbers its outputs in the order in which they come: it has one "
                   "replica, found 2",
                   "\"full_type\" works on one sample after the other: `rows:` has no effect"}));
  graph = repack_graph();
  graph.stage("full").batched = true;
  graph.stage("full").sources[0].batch = 8;
  EXPECT_EQ(messages_of(graph), Texts({"\"full_type\" numbers its outputs freely and must take "
                                       "samples, not batches"}));
}

TEST(FreeNumbering, CannotBeZippedWithTheOriginal) {
  GraphBuilder graph = repack_graph();
  graph.consumer("pair", {"a", "full"}, Join::zip);
  EXPECT_EQ(messages_of(graph),
            Texts({"join: zip puts samples of the same number side by side, but stage \"full\" "
                   "numbers those of \"full\" anew"}));
  GraphBuilder branches = repack_graph();
  branches.transform("left", {"full"}, kRow);
  branches.consumer("pair", {"left", "full"}, Join::zip);
  EXPECT_EQ(messages_of(branches), Texts());
}

TEST(FreeNumbering, LeavesNoWholeRoundOut) {
  GraphBuilder graph = repack_graph();
  graph.stage("end").drop_last = true;
  graph.stage("end").fixed = true;
  EXPECT_EQ(messages_of(graph), Texts());
  graph.stage("end").replicas = 2;
  EXPECT_EQ(messages_of(graph),
            Texts({"drop_last and assign: fixed leave out the last round of an epoch, but of "
                   "\"full\" nobody knows which round that is before it is over"}));
}

TEST(FreeNumbering, HasTheEpochsOfWhatItReads) {
  GraphBuilder graph;
  graph.graph().epochs = 5;
  graph.producer("a", kRow);
  graph.producer("b", kRow);
  graph.transform("both", {"a", "b"}, kRow, Join::merge);
  graph.type_of("both").contract.numbering = Numbering::free;
  graph.consumer("end", {"both"});
  Plan plan = plan_graph(graph.build(), small_machine()).plan;
  const auto epochs_of = [&](int stage) {
    return domain_epochs(plan, plan.stages[static_cast<std::size_t>(stage)].lanes[0].domain);
  };
  EXPECT_EQ(epochs_of(2), 5u);
  PlanProblems problems;
  plan.domains[0].epochs_max = plan.domains[1].epochs_max = 1;  // as above a cache
  check_unknown_lengths(graph.build(), plan, problems);
  EXPECT_TRUE(problems.empty());
  EXPECT_EQ(epochs_of(3), 1u);
  plan.domains[1].epochs_max = 5;
  check_unknown_lengths(graph.build(), plan, problems);
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].message,
            "join: merge puts the same epochs of its sources together, but \"a\" has 1 and \"b\" "
            "has 5");
}

TEST(FreeNumbering, RecordsSoManyEpochs) {
  GraphBuilder graph = repack_graph();
  graph.graph().epochs = kRecordedEpochsMax + 1;
  EXPECT_EQ(messages_of(graph),
            Texts({"epochs: 65537 is above the limit of 65536 for a stage whose "
                   "epochs end where its data do"}));
}

TEST(FreeNumbering, BelowAStreamIsStillBelowIt) {
  GraphBuilder graph = repack_graph();
  graph.type_of("a").indexed = false;
  graph.stage("end").sources[0].max_wait_ns = 700;
  EXPECT_EQ(plan_graph(graph.build(), small_machine()).plan.stages[0].max_wait_ns, 700);
  graph.stage("end").drop_last = true;
  EXPECT_EQ(messages_of(graph),
            Texts({"drop_last below a stream would drop every batch that is closed early"}));
}

TEST(Streams, AreReadWholeByEveryRankWithALine) {
  GraphBuilder graph;
  graph.producer("words", kRow);
  graph.type_of("words").indexed = false;
  graph.consumer("end", {"words"});
  EXPECT_TRUE(plan_graph(graph.build(), small_machine()).plan.warnings.empty());
  graph.graph().shard = {1, 4, Uneven::pad};
  EXPECT_EQ(
      plan_graph(graph.build(), small_machine()).plan.warnings,
      std::vector<std::string>{"stage \"words\" is a stream, which cannot be divided: each of "
                               "the 4 ranks reads all of it"});
}

TEST(Streams, OfAsManyReplicasAsThePlanChoosesMayHaveSeveralEpochs) {
  GraphBuilder graph;
  graph.producer("words", kRow).replicas = 0;
  graph.type_of("words").indexed = false;
  graph.consumer("end", {"words"});
  graph.graph().epochs = 2;
  const PlanResult planned = plan_graph(graph.build(), small_machine());
  ASSERT_TRUE(planned.ok());
  EXPECT_EQ(planned.plan.stages[0].replicas, 1);
}

}  // namespace
}  // namespace brigade
