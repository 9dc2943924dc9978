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

}  // namespace
}  // namespace brigade
