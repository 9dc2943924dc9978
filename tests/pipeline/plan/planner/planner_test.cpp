#include "pipeline/plan/planner/planner.h"

#include <gtest/gtest.h>

#include "pipeline/plan/plan_check.h"
#include "pipeline/plan/planner/unknown_length.h"
#include "tests/support/graph_builder.h"
#include "tests/support/plan_limits.h"

namespace brigade {
namespace {

const Ports kPicture{{"x", u8, {784}}};

Plan planned(GraphBuilder& builder) {
  PlanResult result = plan_graph(builder.build(), small_machine());
  EXPECT_TRUE(result.ok()) << result.problems.front().message;
  const Result<void> checked = check_plan(result.plan);
  EXPECT_TRUE(checked.ok()) << checked.error().message;
  return std::move(result.plan);
}

TEST(Planner, PlansTheThinnestLine) {
  GraphBuilder graph;
  graph.producer("synthetic", kPicture);
  graph.consumer("count", {"synthetic"});
  const Plan plan = planned(graph);
  ASSERT_EQ(plan.stages.size(), 2u);
  EXPECT_EQ(plan.file, "test.yaml");
  EXPECT_EQ(plan.replicas, 2);

  const PlanStage& synthetic = plan.stages[0];
  EXPECT_EQ(synthetic.type, "synthetic_type");
  EXPECT_TRUE(synthetic.indexed);
  EXPECT_TRUE(synthetic.has_ring);
  EXPECT_EQ(synthetic.readers, (std::vector<std::pair<StageNumber, QueueNumber>>{{1, 0}}));
  EXPECT_EQ(synthetic.queues[0].task, 64u);
  EXPECT_TRUE(synthetic.queues[0].in_order);
  EXPECT_EQ(synthetic.queues[0].window, synthetic.ring.slots / 64);

  const PlanStage& count = plan.stages[1];
  EXPECT_FALSE(count.has_ring);
  EXPECT_TRUE(count.ring.tensors.empty());
  EXPECT_EQ(count.queues[0].window, synthetic.ring.slots / 64);
  EXPECT_EQ(plan.index_spaces[0].multiple, 64u);
  EXPECT_TRUE(plan.warnings.empty());
}

TEST(Planner, PlansFashionMnist) {
  GraphBuilder graph = fashion_mnist_graph();
  const Plan plan = planned(graph);
  EXPECT_TRUE(plan.warnings.empty());
  EXPECT_EQ(plan.replicas, 5);
  EXPECT_EQ(plan.seed, 7u);
  EXPECT_EQ(plan.epochs, 5u);

  const PlanStage& augment = plan.stages[1];
  EXPECT_EQ(augment.queues[0].task, 64u);
  EXPECT_FALSE(augment.queues[0].in_order);
  EXPECT_EQ(augment.skips_max, 10u * 5 + 2 * 2);
  EXPECT_EQ(augment.passes, std::vector<PlanPass>({{"label", 0}}));
  EXPECT_EQ(augment.ring.slots % 256, 0u);

  const PlanStage& train = plan.stages[3];
  ASSERT_EQ(train.queues.size(), 2u);
  EXPECT_EQ(train.queues[0].inputs[0].port, "train");
  EXPECT_EQ(train.queues[1].inputs[0].port, "test");
  EXPECT_EQ(train.queues[1].index_space, 1);
  EXPECT_EQ(train.queues[0].window, augment.ring.slots / 256);
  EXPECT_EQ(train.device, "auto");
}

TEST(Planner, GivesTheSamePlanForTheSameInput) {
  GraphBuilder graph = fashion_mnist_graph();
  EXPECT_EQ(planned(graph), planned(graph));
}

TEST(Planner, EmptySlotsTravelDownFromWhereverTheyCanArise) {
  GraphBuilder graph;
  graph.producer("a", kPicture);
  graph.transform("filter", {"a"}, kPicture);
  graph.type_of("filter").contract.may_drop = true;
  graph.transform("after", {"filter"}, kPicture);
  graph.consumer("end", {"after"});
  graph.consumer("beside", {"a"});
  const Plan plan = planned(graph);
  EXPECT_FALSE(plan.stages[0].empty_slots_possible);
  EXPECT_TRUE(plan.stages[1].may_drop);
  EXPECT_TRUE(plan.stages[1].empty_slots_possible);
  EXPECT_TRUE(plan.stages[2].empty_slots_possible);
  EXPECT_TRUE(plan.stages[3].empty_slots_possible);
  EXPECT_FALSE(plan.stages[4].empty_slots_possible);
}

TEST(Planner, SkipListsHoldTheShareOfAPercentage) {
  GraphBuilder graph;
  graph.producer("a", kPicture);
  graph.transform("b", {"a"}, kPicture).on_error = {true, 0, 50};
  graph.consumer("c", {"b"});
  EXPECT_EQ(planned(graph).stages[1].skips_max, (1u << 19) + 2);
}

TEST(Planner, SkipListsHaveALimitThatIsSaid) {
  GraphBuilder graph;
  graph.producer("a", kPicture);
  graph.transform("b", {"a"}, kPicture).on_error = {true, 1ull << 40, 0};
  graph.consumer("c", {"b"});
  const Plan plan = planned(graph);
  EXPECT_EQ(plan.stages[1].skips_max, kSkipsMax + 2);
  EXPECT_EQ(plan.warnings,
            std::vector<std::string>{"stage \"b\": on_error: skip: 1099511627776 is more than a "
                                     "run can note down; it ends after 1048576"});
}

TEST(Planner, SaysWhenBuffersAreTooFew) {
  GraphBuilder graph;
  graph.producer("a", kPicture).buffers = 1;
  graph.consumer("b", {"a"});
  EXPECT_EQ(planned(graph).warnings,
            std::vector<std::string>{"stage \"a\": buffers: 1 is less than what its stages hold at "
                                     "once; the plan uses 192 slots"});
}

TEST(Planner, ASeedAndARandomStreamOfItsOwnHold) {
  GraphBuilder graph;
  graph.graph().seed = 7;
  graph.producer("a", kPicture).seed = 9;
  graph.transform("b", {"a"}, kPicture).random = "pair";
  graph.consumer("c", {"b"});
  const Plan plan = planned(graph);
  EXPECT_EQ(plan.stages[0].seed, 9u);
  EXPECT_EQ(plan.stages[1].seed, 7u);
  EXPECT_EQ(plan.stages[1].random, "pair");
  EXPECT_EQ(plan.stages[2].random, "c");
}

TEST(Planner, PassedTensorsOfAZipNameTheirInput) {
  GraphBuilder graph;
  graph.producer("a", kPicture);
  graph.producer("b", {{"y", u8, {}}});
  ValidStage& zip = graph.transform("c", {"a", "b"}, {{"x", u8, {784}}, {"y", u8, {}}}, Join::zip);
  zip.passed = {{"y", 1}};
  graph.consumer("d", {"c"});
  EXPECT_EQ(planned(graph).stages[2].passes, std::vector<PlanPass>({{"y", 1}}));
}

TEST(Planner, RaggedRingsAreSparseAndPlannedAsExpected) {
  GraphBuilder graph;
  graph.producer("files", {{"encoded", u8, {up_to(1 << 20, 100'000)}}});
  graph.transform("b", {"files"}, {{"encoded", u8, {up_to(1 << 20, 100'000)}}}).passed = {
      {"encoded", 0}};
  graph.consumer("c", {"b"});
  const Plan plan = plan_graph(graph.build(), small_machine()).plan;
  for (const char* name : {"files", "b"}) {
    const PlanRing& ring = plan.stages[StageNumber(name[0] == 'f' ? 0 : 1)].ring;
    EXPECT_TRUE(ring.sparse);
    // 100,000 bytes touch 25 pages; a header and a shape are 40 bytes.
    EXPECT_GE(ring.expected_bytes, ring.slots * (25 * 4096 + 40));
    EXPECT_LT(ring.expected_bytes, ring.slots * (25 * 4096 + 40) + 4 * 4096);
    EXPECT_GE(ring.bytes, ring.slots << 20);
  }
  EXPECT_LT(plan.memory_bytes, plan.stages[0].ring.bytes);
}

/// feed is a stream, images are indexed; end reads both.
GraphBuilder stream_graph(Join join) {
  GraphBuilder graph;
  graph.producer("feed", kPicture);
  graph.type_of("feed").indexed = false;
  graph.producer("images", kPicture);
  ValidStage& end = graph.consumer("end", {"feed", "images"}, join);
  end.batched = true;
  end.sources[0].batch = end.sources[1].batch = 16;
  return graph;
}

std::vector<std::string> messages_of(GraphBuilder& graph) {
  std::vector<std::string> messages;
  for (const PlanProblem& problem : plan_graph(graph.build(), small_machine()).problems)
    messages.push_back(problem.message);
  return messages;
}

TEST(Streams, MayBeMergedWithOtherSources) {
  GraphBuilder graph = stream_graph(Join::merge);
  graph.stage("end").sources[0].max_wait_ns = 7;
  const PlanResult planned = plan_graph(graph.build(), small_machine());
  ASSERT_TRUE(planned.problems.empty());
  EXPECT_EQ(planned.plan.stages[0].max_wait_ns, 7);
  EXPECT_EQ(planned.plan.stages[1].max_wait_ns, 0);
}

TEST(Streams, OfSeveralReplicasHavePaddingBetweenTheirSamples) {
  GraphBuilder graph = stream_graph(Join::merge);
  EXPECT_FALSE(planned(graph).stages[2].empty_slots_possible);
  graph.stage("feed").replicas = 2;
  EXPECT_TRUE(planned(graph).stages[2].empty_slots_possible);
}

TEST(Streams, WaitAsLongAsTheMostImpatientReaderAnywhereBelow) {
  GraphBuilder graph;
  graph.producer("feed", kPicture);
  graph.type_of("feed").indexed = false;
  graph.transform("b", {"feed"}, kPicture);
  graph.consumer("c", {"b"});
  EXPECT_EQ(plan_graph(graph.build(), small_machine()).plan.stages[0].max_wait_ns, 5'000'000);
  graph.stage("b").sources[0].max_wait_ns = 900;
  graph.stage("c").sources[0].max_wait_ns = 800;
  EXPECT_EQ(plan_graph(graph.build(), small_machine()).plan.stages[0].max_wait_ns, 800);
}

TEST(Streams, AreRefusedWhereTheirSizeWouldMatter) {
  using Texts = std::vector<std::string>;
  GraphBuilder zipped = stream_graph(Join::zip);
  EXPECT_EQ(messages_of(zipped), Texts({"a stream cannot be zipped with another source: nobody "
                                        "knows whether their sizes agree"}));
  GraphBuilder many = stream_graph(Join::merge);
  many.stage("feed").replicas = 2;
  many.graph().epochs = 3;
  EXPECT_EQ(messages_of(many),
            Texts({"a stream with several replicas has one epoch, found epochs: 3: each replica "
                   "comes to an end of its own, and none knows of the others'"}));
  GraphBuilder long_run = stream_graph(Join::epochs);
  long_run.graph().epochs = kRecordedEpochsMax;
  EXPECT_EQ(messages_of(long_run), Texts());
  long_run.graph().epochs = kRecordedEpochsMax + 1;
  EXPECT_EQ(messages_of(long_run),
            Texts({"epochs: 65537 is above the limit of 65536 for a stage whose "
                   "epochs end where its data do"}));
  GraphBuilder dropped = stream_graph(Join::merge);
  dropped.stage("end").drop_last = true;
  dropped.stage("end").sources[1].max_wait_ns = 5;
  EXPECT_EQ(messages_of(dropped),
            Texts({"drop_last below a stream would drop every batch that is closed early",
                   "max_wait of \"images\": there is no stream above, every batch gets full"}));
}

TEST(Planner, ReportsAllProblemsAtOnce) {
  GraphBuilder graph;
  graph.producer("a", kPicture);
  graph.transform("b", {"a"}, kPicture).replicas = 300;
  graph.consumer("c", {"b"}).batched = true;
  MachineLimits limits = small_machine();
  limits.descriptors_hard = 20;
  EXPECT_EQ(plan_graph(graph.build(), limits).problems.size(), 3u);
}

TEST(Planner, PlansAGraphWithoutStages) {
  GraphBuilder graph;
  EXPECT_TRUE(planned(graph).stages.empty());
}

TEST(Planner, ARingHasRoomForAllSlotsOfItsTasks) {
  GraphBuilder graph;
  graph.producer("a", {{"x", u8, {8}}});
  ValidStage& crops = graph.transform("crops", {"a"}, {{"x", u8, {8}}});
  crops.outputs_per_input = 5;
  crops.replicas = 2;
  crops.chunk = 6;
  graph.type_of("crops").contract.numbering = Numbering::expand;
  graph.consumer("end", {"crops"}).chunk = 16;
  const PlanStage planned = plan_graph(graph.build(), small_machine()).plan.stages[1];
  ASSERT_EQ(planned.queues[0].task, 6u);
  EXPECT_EQ(planned.ring.slots % 30, 0u);
  EXPECT_EQ(planned.ring.slots % 16, 0u);
  EXPECT_EQ(planned.queues[0].window, planned.ring.slots / 30);
  EXPECT_EQ(planned.ring.terms[0].what, "being written by crops (2 x 30)");
}

TEST(Planner, APartOfNothingIsAProblem) {
  GraphBuilder graph;
  ValidStage& source = graph.producer("a", {{"x", u8, {4}}});
  source.samples = 10;
  source.split.shares = {{"train", kWholeShare - 1}};
  source.part = "train";
  graph.consumer("end", {"a"});
  const PlanResult train = plan_graph(graph.build(), small_machine());
  EXPECT_TRUE(train.ok()) << "the control";
  graph.stage("a").part = "val";
  const PlanResult planned = plan_graph(graph.build(), small_machine());
  ASSERT_EQ(planned.problems.size(), 1u);
  EXPECT_EQ(planned.problems[0].stage, "a");
  EXPECT_EQ(planned.problems[0].message,
            "its source has 10 samples, of which `skip:` and `split:` leave none");
  graph.stage("a").samples = 0;
  EXPECT_TRUE(plan_graph(graph.build(), small_machine()).ok()) << "nobody knows how many";
  graph.stage("a").files = 4;
  const PlanResult counted = plan_graph(graph.build(), small_machine());
  ASSERT_EQ(counted.problems.size(), 1u);
  EXPECT_EQ(counted.problems[0].message,
            "its source has 4 samples, of which `skip:` and `split:` leave none");
}

}  // namespace
}  // namespace brigade
