#include "pipeline/plan/planner/thread_budget.h"

#include <gtest/gtest.h>

#include "tests/support/graph_builder.h"

namespace brigade {
namespace {

const Ports kLineSlot{{"x", u8, {8}}};

struct Shared {
  Plan plan;
  PlanProblems problems;
};

Shared share(GraphBuilder& builder, std::uint64_t cores) {
  const ValidGraph& graph = builder.build();
  Shared result;
  result.plan.stages.resize(graph.stages.size());
  share_cores(graph, {.cores_affinity = cores}, result.plan, result.problems);
  return result;
}

/// a -> b -> c -> d, the transforms b and c with the given replicas.
GraphBuilder line(std::uint64_t b, std::uint64_t c) {
  GraphBuilder graph;
  graph.producer("a", kLineSlot);
  graph.transform("b", {"a"}, kLineSlot).replicas = b;
  graph.transform("c", {"b"}, kLineSlot).replicas = c;
  graph.consumer("d", {"c"});
  return graph;
}

TEST(Replicas, AreNumberedThroughTheGraph) {
  GraphBuilder graph = line(3, 2);
  const Plan plan = share(graph, 8).plan;
  EXPECT_EQ(plan.stages[1].first_replica, 1);
  EXPECT_EQ(plan.stages[2].first_replica, 4);
  EXPECT_EQ(plan.stages[3].first_replica, 6);
  EXPECT_EQ(plan.replicas, 7);
}

TEST(Replicas, AutoTakesAllCoresWhereNothingElseWantsThem) {
  GraphBuilder graph = line(0, 1);
  graph.stage("c").replicas = 1;
  EXPECT_EQ(share(graph, 8).plan.stages[1].replicas, 7);
}

TEST(Replicas, AutoSharesEvenlyAndGivesTheRestToTheEarlier) {
  GraphBuilder graph = line(0, 0);
  const Plan plan = share(graph, 9).plan;
  EXPECT_EQ(plan.stages[1].replicas, 5);
  EXPECT_EQ(plan.stages[2].replicas, 4);
}

TEST(Replicas, AutoIsAtLeastOne) {
  GraphBuilder graph = line(16, 0);
  EXPECT_EQ(share(graph, 2).plan.stages[2].replicas, 1);
}

TEST(Replicas, AutoCountsThreadsOfItsOwnAndOfOthers) {
  GraphBuilder graph = line(0, 1);
  graph.stage("b").threads = 2;
  graph.stage("d").threads = 4;
  EXPECT_EQ(share(graph, 16).plan.stages[1].replicas, 5);  // (16 - 1 - 4) / 2
  graph.stage("d").threads = 2;
  EXPECT_EQ(share(graph, 16).plan.stages[1].replicas, 6);
}

TEST(Replicas, AutoNeverExceedsWhatAGraphMayHave) {
  GraphBuilder graph = line(0, 0);
  const Shared shared = share(graph, 4096);
  EXPECT_TRUE(shared.problems.empty());
  EXPECT_EQ(shared.plan.stages[1].replicas, 127);  // the source and the consumer are two of 256
  EXPECT_EQ(shared.plan.stages[2].replicas, 127);
  GraphBuilder full = line(254, 0);
  EXPECT_EQ(share(full, 4096).problems.size(), 1u) << "one at least";
}

/// train -> cut and test -> fit, read in turn or at the same time.
GraphBuilder train_and_test(Join join, std::uint64_t cut, std::uint64_t fit) {
  GraphBuilder graph;
  graph.producer("train", kLineSlot);
  graph.producer("test", kLineSlot);
  graph.transform("cut", {"train"}, kLineSlot).replicas = cut;
  graph.transform("fit", {"test"}, kLineSlot).replicas = fit;
  graph.transform("both", {"cut", "fit"}, kLineSlot, join);
  graph.consumer("end", {"both"});
  return graph;
}

TEST(Replicas, AutoGivesStagesThatTakeTurnsTheSameCores) {
  GraphBuilder turns = train_and_test(Join::epochs, 0, 0);
  const Plan in_turn = share(turns, 9).plan;
  EXPECT_EQ(in_turn.stages[2].replicas, 8);  // less the one of `both`
  EXPECT_EQ(in_turn.stages[3].replicas, 8);
  GraphBuilder together = train_and_test(Join::merge, 0, 0);
  const Plan at_once = share(together, 9).plan;
  EXPECT_EQ(at_once.stages[2].replicas, 4) << "the control";
  EXPECT_EQ(at_once.stages[3].replicas, 4);
}

TEST(Replicas, AutoLeavesATurnWhatItsOtherStagesTake) {
  GraphBuilder graph = train_and_test(Join::epochs, 0, 6);
  graph.stage("both").replicas = 0;
  const Plan plan = share(graph, 9).plan;
  EXPECT_EQ(plan.stages[2].replicas, 5) << "half of 9, the earlier one more";
  EXPECT_EQ(plan.stages[4].replicas, 3) << "what the other turn leaves";
}

TEST(Replicas, AutoIsOneWhereSeveralWouldChangeWhatARunGives) {
  GraphBuilder stateful = line(0, 1);
  stateful.type_of("b").contract.stateful = true;
  EXPECT_EQ(share(stateful, 8).plan.stages[1].replicas, 1);
  GraphBuilder free = line(0, 1);
  free.type_of("b").contract.numbering = Numbering::flat_map;
  EXPECT_EQ(share(free, 8).plan.stages[1].replicas, 1);
  GraphBuilder stream = line(1, 1);
  stream.stage("a").replicas = 0;
  EXPECT_EQ(share(stream, 8).plan.stages[0].replicas, 6) << "indexed: 8 less b and c";
  stream.type_of("a").indexed = false;
  EXPECT_EQ(share(stream, 8).plan.stages[0].replicas, 1);
}

TEST(Cpus, AreThisRunsPartOfTheMachine) {
  GraphBuilder graph = line(1, 1);
  graph.stage("c").cpus = {0, 1};
  const ValidGraph& built = graph.build();
  const MachineLimits limits{
      .cores_affinity = 4, .cpus = {0, 1, 2, 3}, .local_world_size = 2, .local_rank = 1};
  Plan plan;
  plan.stages.resize(built.stages.size());
  PlanProblems problems;
  share_cores(built, limits, plan, problems);
  EXPECT_EQ(plan.stages[0].cpus, (std::vector<int>{2, 3}));
  EXPECT_EQ(plan.stages[1].cpus, (std::vector<int>{2, 3}));
  EXPECT_EQ(plan.warnings,
            std::vector<std::string>{"stage \"c\": cpus: 0-1 are the same cores in each of the 2 "
                                     "runs of this machine"});
  EXPECT_TRUE(share(graph, 4).plan.stages[0].cpus.empty()) << "the only run goes where it likes";
}

TEST(Cpus, ThatAreNotThereAreSaid) {
  GraphBuilder graph = line(1, 1);
  const MachineLimits two{.cores_affinity = 2, .cpus = {0, 1}};
  const auto share_two = [&](std::vector<int> cpus) {
    graph.stage("c").cpus = std::move(cpus);
    Shared result;
    result.plan.stages.resize(4);
    share_cores(graph.build(), two, result.plan, result.problems);
    return result;
  };
  const Shared some = share_two({1, 2, 3});
  EXPECT_TRUE(some.problems.empty());
  EXPECT_EQ(some.plan.warnings,
            std::vector<std::string>{"stage \"c\": cpus: 2-3 are left out: this process may run "
                                     "on 0-1"});
  const Shared none = share_two({1000});
  ASSERT_EQ(none.problems.size(), 1u);
  EXPECT_EQ(none.problems[0].message,
            "there are no cores 1000 (cpus:); this process may run on 0-1");
  EXPECT_EQ(none.problems[0].help, "write cores of these, or take cpus: away");
  EXPECT_TRUE(share_two({0}).plan.warnings.empty());
}

TEST(Replicas, MoreThan256AreAProblemOfTheLargestStage) {
  GraphBuilder graph = line(300, 2);
  const Shared shared = share(graph, 512);
  ASSERT_EQ(shared.problems.size(), 1u);
  EXPECT_EQ(shared.problems[0].stage, "b");
  EXPECT_EQ(shared.problems[0].message,
            "the graph has 304 replicas, 300 of them in this stage; at most 256 are possible");
}

TEST(Replicas, OfAnAbsurdNumberAreAProblemToo) {
  GraphBuilder graph = line(~std::uint64_t{0}, ~std::uint64_t{0});
  graph.stage("b").threads = ~std::uint64_t{0};
  EXPECT_FALSE(share(graph, 2).problems.empty());
}

TEST(Threads, SingleThreadedReplicasAlwaysFitWithALine) {
  GraphBuilder graph = line(3, 2);
  const Shared shared = share(graph, 2);
  EXPECT_TRUE(shared.problems.empty());
  EXPECT_EQ(shared.plan.warnings,
            std::vector<std::string>{"5 threads (3 x 1 in b + 2 x 1 in c) share 2 cores"});
}

TEST(Threads, OfTurnsAreCountedByTheLargest) {
  GraphBuilder turns = train_and_test(Join::epochs, 3, 2);
  EXPECT_TRUE(share(turns, 4).plan.warnings.empty());
  EXPECT_EQ(share(turns, 3).plan.warnings,
            std::vector<std::string>{"4 threads (3 x 1 in cut + 1 x 1 in both) share 3 cores"});
  GraphBuilder together = train_and_test(Join::merge, 3, 2);
  EXPECT_EQ(share(together, 4).plan.warnings.size(), 1u) << "the control";
}

TEST(Threads, AsManyAsCoresAreNotMentioned) {
  GraphBuilder graph = line(1, 1);
  EXPECT_TRUE(share(graph, 2).plan.warnings.empty());
}

TEST(Threads, OfTeamsAboveTheCoresAreAProblem) {
  GraphBuilder graph = line(2, 1);
  graph.stage("b").threads = 2;
  graph.stage("d").threads = 3;
  const Shared shared = share(graph, 4);
  ASSERT_EQ(shared.problems.size(), 1u);
  EXPECT_EQ(shared.problems[0].stage, "d");
  EXPECT_EQ(shared.problems[0].message,
            "replicas with several threads want 7 cores (2 x 2 in b + 1 x 3 in d), 4 are there");
  EXPECT_EQ(shared.problems[0].help,
            "write smaller threads: or replicas:, or oversubscribe: true at the top level");
}

TEST(Threads, OfTeamsMayExceedTheCoresWhenAskedFor) {
  GraphBuilder graph = line(2, 1);
  graph.stage("b").threads = 2;
  graph.graph().oversubscribe = true;
  const Shared shared = share(graph, 2);
  EXPECT_TRUE(shared.problems.empty());
  EXPECT_TRUE(shared.plan.warnings.empty()) << "the graph says that it is meant";
  graph.stage("b").threads = 1;
  graph.graph().oversubscribe = false;
  EXPECT_EQ(share(graph, 2).plan.warnings.size(), 1u) << "the control";
}

TEST(Threads, OfTeamsThatFitAreFineBesideSingleThreads) {
  GraphBuilder graph = line(4, 1);
  graph.stage("d").threads = 2;
  EXPECT_TRUE(share(graph, 2).problems.empty());
}

}  // namespace
}  // namespace brigade
