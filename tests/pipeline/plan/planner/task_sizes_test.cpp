#include "pipeline/plan/planner/task_sizes.h"

#include <gtest/gtest.h>

#include "pipeline/plan/task_queues.h"
#include "tests/support/graph_builder.h"

namespace brigade {
namespace {

Ports bytes(std::int64_t count) { return {{"x", u8, {count}}}; }

struct Sized {
  Plan plan;
  PlanProblems problems;
  std::uint64_t task(StageNumber stage, QueueNumber queue = 0) const {
    return plan.stages[stage].queues[queue].task;
  }
};

Sized size_tasks(GraphBuilder& builder) {
  const ValidGraph& graph = builder.build();
  Sized result;
  result.plan.stages.resize(graph.stages.size());
  make_task_queues(graph, result.plan);
  number_index_spaces(graph, result.plan, result.problems);
  set_task_sizes(graph, result.plan, result.problems);
  return result;
}

TEST(LargestDivisor, IsTheLargestThatIsSmallEnough) {
  EXPECT_EQ(largest_divisor(256, 82), 64u);
  EXPECT_EQ(largest_divisor(250, 82), 50u);
  EXPECT_EQ(largest_divisor(251, 82), 1u);
  EXPECT_EQ(largest_divisor(8, 82), 8u);
  EXPECT_EQ(largest_divisor(1, 1), 1u);
}

TEST(NearestFit, DividesTheOtherOrIsAMultipleOfIt) {
  EXPECT_EQ(nearest_fit(250, 256), 256u);
  EXPECT_EQ(nearest_fit(256, 250), 250u);
  EXPECT_EQ(nearest_fit(50, 64), 64u);
  EXPECT_EQ(nearest_fit(40, 64), 32u);
  EXPECT_EQ(nearest_fit(1000, 256), 1024u);
  EXPECT_EQ(nearest_fit(64, 64), 64u);
  EXPECT_EQ(nearest_fit(1, 64), 1u);
}

TEST(TaskSizes, ABatchedStageTakesTheBatchOfItsEdge) {
  GraphBuilder graph;
  graph.producer("a", bytes(800)).batch = 256;
  graph.consumer("b", {"a"}).batched = true;
  EXPECT_EQ(size_tasks(graph).task(1), 256u);
}

TEST(TaskSizes, AReadersOwnBatchGoesBeforeTheWriters) {
  GraphBuilder graph;
  graph.producer("a", bytes(800)).batch = 256;
  graph.consumer("b", {"a"}).batched = true;
  graph.stage("b").sources[0].batch = 128;
  EXPECT_EQ(size_tasks(graph).task(1), 128u);
}

TEST(TaskSizes, ABatchGivenOnceHoldsForAZip) {
  GraphBuilder graph;
  graph.producer("a", bytes(800));
  graph.producer("b", bytes(800)).batch = 32;
  graph.consumer("c", {"a", "b"}, Join::zip).batched = true;
  const Sized sized = size_tasks(graph);
  EXPECT_TRUE(sized.problems.empty());
  EXPECT_EQ(sized.task(2), 32u);
}

TEST(TaskSizes, TwoBatchesOfAZipAreAProblem) {
  GraphBuilder graph;
  graph.producer("a", bytes(800)).batch = 64;
  graph.producer("b", bytes(800)).batch = 32;
  graph.consumer("c", {"a", "b"}, Join::zip).batched = true;
  const PlanProblems problems = size_tasks(graph).problems;
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].message, "join: zip needs one batch for all sources, found 64 and 32");
}

TEST(TaskSizes, ABatchedStageWithoutABatchIsAProblemThatSaysWhereToWriteIt) {
  GraphBuilder graph;
  graph.producer("a", bytes(800));
  graph.consumer("b", {"a"}).batched = true;
  const PlanProblems problems = size_tasks(graph).problems;
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].stage, "b");
  EXPECT_EQ(problems[0].message, "it takes batches, but the edge from \"a\" has no batch:");
  EXPECT_EQ(problems[0].help, "write batch: in stage \"a\", or {stage: a, batch: N} in from:");
}

TEST(TaskSizes, EachQueueOfEpochsHasTheBatchOfItsEdge) {
  GraphBuilder graph;
  graph.producer("a", bytes(800)).batch = 256;
  graph.producer("b", bytes(800)).batch = 100;
  graph.consumer("c", {"a", "b"}, Join::epochs).batched = true;
  const Sized sized = size_tasks(graph);
  EXPECT_TRUE(sized.problems.empty());
  EXPECT_EQ(sized.task(2, 0), 256u);
  EXPECT_EQ(sized.task(2, 1), 100u);
  EXPECT_EQ(sized.plan.index_spaces[0].multiple, 256u);
  EXPECT_EQ(sized.plan.index_spaces[1].multiple, 100u);
}

TEST(TaskSizes, AutoIsADivisorOfTheReadersBatchBelow64KiB) {
  GraphBuilder graph;
  graph.producer("small", bytes(792)).batch = 256;
  graph.consumer("b", {"small"}).batched = true;
  graph.producer("large", bytes(150528)).batch = 256;
  graph.consumer("c", {"large"}).batched = true;
  graph.producer("tiny", bytes(1)).batch = 256;
  graph.consumer("d", {"tiny"}).batched = true;
  const Sized sized = size_tasks(graph);
  EXPECT_EQ(sized.task(0), 64u);
  EXPECT_EQ(sized.task(2), 1u);
  EXPECT_EQ(sized.task(4), 256u);
}

TEST(TaskSizes, AutoLooksThroughPerSampleStagesForTheBatch) {
  GraphBuilder graph;
  graph.producer("a", bytes(792));
  graph.transform("b", {"a"}, bytes(792)).batch = 250;
  graph.consumer("c", {"b"}).batched = true;
  const Sized sized = size_tasks(graph);
  EXPECT_EQ(sized.task(0), 50u);
  EXPECT_EQ(sized.task(1), 50u);
  EXPECT_EQ(sized.plan.index_spaces[0].multiple, 250u);
}

TEST(TaskSizes, AutoCountsTheLargerOfWhatIsReadAndWritten) {
  GraphBuilder graph;
  graph.producer("a", bytes(30000));
  graph.transform("shrink", {"a"}, bytes(8));
  graph.consumer("c", {"shrink"});
  const Sized sized = size_tasks(graph);
  EXPECT_EQ(sized.task(0), 2u);
  EXPECT_EQ(sized.task(1), 2u);
  EXPECT_EQ(sized.task(2), 64u);
}

TEST(TaskSizes, AutoIs64WhereNobodyWantsBatches) {
  GraphBuilder graph;
  graph.producer("a", bytes(8));
  graph.consumer("b", {"a"});
  const Sized sized = size_tasks(graph);
  EXPECT_EQ(sized.task(0), 64u);
  EXPECT_EQ(sized.task(1), 64u);
}

TEST(TaskSizes, AutoNeverMakesTheMultipleLarger) {
  GraphBuilder graph;
  graph.producer("a", bytes(8)).batch = 250;
  graph.consumer("batches", {"a"}).batched = true;
  graph.consumer("samples", {"a"});
  const Sized sized = size_tasks(graph);
  EXPECT_EQ(sized.task(0), 250u);
  EXPECT_EQ(sized.task(2), 50u);
  EXPECT_EQ(sized.plan.index_spaces[0].multiple, 250u);
}

TEST(TaskSizes, ExplicitSlotsHold) {
  GraphBuilder graph;
  graph.producer("a", bytes(800));
  graph.transform("slow", {"a"}, bytes(800)).chunk = 1;
  graph.consumer("c", {"slow"});
  const Sized sized = size_tasks(graph);
  EXPECT_EQ(sized.task(0), 64u);
  EXPECT_EQ(sized.task(1), 1u);
  EXPECT_EQ(sized.task(2), 64u);
}

TEST(Multiple, SizesThatDoNotFitAreAWarningWithACure) {
  GraphBuilder graph;
  graph.producer("a", bytes(8));
  graph.consumer("train", {"a"}).batched = true;
  graph.stage("train").sources[0].batch = 256;
  graph.consumer("test", {"a"}).batched = true;
  graph.stage("test").sources[0].batch = 250;
  const Sized sized = size_tasks(graph);
  EXPECT_TRUE(sized.problems.empty());
  EXPECT_EQ(sized.plan.index_spaces[0].multiple, 32000u);
  ASSERT_EQ(sized.plan.warnings.size(), 1u);
  EXPECT_EQ(sized.plan.warnings[0],
            "batches of 256 (stage \"train\") and batches of 250 (stage \"test\") do not fit each "
            "other: an epoch is padded to a multiple of 32000 samples; write batch: 256 for stage "
            "\"test\" to avoid that");
}

TEST(Multiple, SizesThatFitAreNoWarning) {
  GraphBuilder graph;
  graph.producer("a", bytes(8));
  graph.consumer("train", {"a"}).batched = true;
  graph.stage("train").sources[0].batch = 256;
  graph.consumer("test", {"a"}).batched = true;
  graph.stage("test").sources[0].batch = 128;
  EXPECT_TRUE(size_tasks(graph).plan.warnings.empty());
}

TEST(Multiple, AboveTheLimitIsAProblemThatNamesTheSizesAndTheCure) {
  GraphBuilder graph;
  graph.producer("a", bytes(8));
  graph.consumer("train", {"a"}).batched = true;
  graph.stage("train").sources[0].batch = 4096;
  graph.consumer("test", {"a"}).batched = true;
  graph.stage("test").sources[0].batch = 4095;
  const PlanProblems problems = size_tasks(graph).problems;
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].stage, "test");
  EXPECT_EQ(problems[0].message,
            "batches of 4096 (stage \"train\") and batches of 4095 (stage \"test\") do not fit "
            "each other: an epoch is padded to a multiple of 16773120 samples, at most 1048576 is "
            "possible");
  EXPECT_EQ(problems[0].help, "write batch: 4096 for stage \"test\"");
}

TEST(Multiple, ASingleSizeAboveTheLimitIsSaidAsThat) {
  GraphBuilder graph;
  graph.producer("a", bytes(8)).chunk = ~std::uint64_t{0};
  graph.consumer("b", {"a"}).chunk = 7;
  const PlanProblems problems = size_tasks(graph).problems;
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].message,
            "chunk: 18446744073709551615 is above the limit of 1048576 samples");
}

TEST(SlotBytes, CountTheHeaderAndStickAtTheTop) {
  EXPECT_EQ(slot_bytes_of({}), 32u);
  EXPECT_EQ(slot_bytes_of({{"x", f32, {10}}, {"y", u8, {}}}), 73u);
  const std::int64_t huge = std::int64_t{1} << 40;
  EXPECT_EQ(slot_bytes_of({{"x", f32, {huge, huge}}}), ~std::uint64_t{0});
}

/// A transform that makes `count` samples of each.
ValidStage& several(GraphBuilder& graph, const std::string& name, const std::string& from,
                    std::uint64_t count, const Ports& outputs) {
  ValidStage& stage = graph.transform(name, {from}, outputs);
  stage.outputs_per_input = count;
  graph.type_of(name).contract.numbering = Numbering::expand;
  return stage;
}

TEST(FanOut, AnEpochIsAMultipleOfWhatMakesWholeBatchesBelow) {
  GraphBuilder graph;
  graph.producer("a", bytes(8));
  several(graph, "six", "a", 6, bytes(8)).batch = 64;
  graph.consumer("end", {"six"}).batched = true;
  const Sized sized = size_tasks(graph);
  EXPECT_TRUE(sized.problems.empty());
  EXPECT_EQ(sized.plan.index_spaces[0].multiple, 32u);  // 32 x 6 = 3 x 64
  EXPECT_EQ(sized.plan.index_spaces[1].multiple, 192u);
  EXPECT_EQ(sized.task(1), 32u);
  EXPECT_EQ(sized.task(2), 64u);
}

TEST(FanOut, ATaskMakesAtMost64KiBOfAllItsSlots) {
  GraphBuilder graph;
  graph.producer("a", bytes(8));
  several(graph, "crops", "a", 4, bytes(8160)).batch = 256;
  graph.consumer("end", {"crops"}).batched = true;
  EXPECT_EQ(size_tasks(graph).task(1), 2u);  // 2 x 4 x 8 KiB
}

TEST(FanOut, SizesThatNobodyAskedForFitThoseOfTheOtherIndexSpace) {
  GraphBuilder graph;
  graph.producer("a", bytes(8)).batch = 100;
  several(graph, "three", "a", 3, bytes(8));
  graph.consumer("below", {"three"});
  graph.consumer("end", {"a"}).batched = true;
  const Sized sized = size_tasks(graph);
  EXPECT_EQ(sized.plan.index_spaces[0].multiple, 100u);
  EXPECT_EQ(sized.plan.index_spaces[1].multiple, 300u);
  EXPECT_EQ(300 % sized.task(2), 0u);
}

TEST(FanOut, SizesThatDoNotFitAreNamedAcrossIndexSpaces) {
  GraphBuilder graph;
  graph.producer("a", bytes(8));
  graph.consumer("one", {"a"}).batched = true;
  graph.stage("one").sources[0].batch = 1021;
  several(graph, "two", "a", 2, bytes(8));
  graph.consumer("other", {"two"}).batched = true;
  graph.stage("other").sources[0].batch = 4093;
  const PlanProblems problems = size_tasks(graph).problems;
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_TRUE(problems[0].message.starts_with(
      "batches of 1021 (stage \"one\") and batches of 4093 (stage \"other\") do not fit"));
}

}  // namespace
}  // namespace brigade
