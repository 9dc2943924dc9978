#include "pipeline/run/graph_shape.h"

#include <gtest/gtest.h>

#include "pipeline/stats/counters.h"
#include "tests/support/run_line.h"

namespace brigade {
namespace {

Plan fashion_mnist_plan() {
  GraphBuilder graph = fashion_mnist_graph();
  return plan_graph(graph.build(), small_machine()).plan;
}

TEST(GraphShape, FollowsThePlan) {
  const Plan plan = fashion_mnist_plan();
  const GraphShape shape = graph_shape(plan);
  EXPECT_EQ(shape.replicas, plan.replicas);
  EXPECT_EQ(shape.domains, 2);
  EXPECT_EQ(shape.replica_extra_bytes, kReplicaCounterBytes);
  ASSERT_EQ(shape.stages.size(), 4u);
  const StageShape& images = shape.stages[0];
  EXPECT_TRUE(images.source);
  EXPECT_EQ(images.rows, plan.stages[0].pool.rows);
  const StageShape& augment = shape.stages[1];
  EXPECT_FALSE(augment.source);
  EXPECT_EQ(augment.replicas, 2);
  EXPECT_EQ(augment.skips_max, plan.stages[1].skips_max);
  EXPECT_EQ(augment.lanes[0].inputs, std::vector<int>{0});
  EXPECT_EQ(augment.lanes[0].task, plan.stages[1].lanes[0].task);
  EXPECT_EQ(augment.lanes[0].window, plan.stages[1].lanes[0].window);
  const StageShape& train = shape.stages[3];
  EXPECT_EQ(train.rows, 0u);
  ASSERT_EQ(train.lanes.size(), 2u);
  EXPECT_NE(train.lanes[0].domain, train.lanes[1].domain);
  EXPECT_TRUE(train.lanes[0].in_order);
}

TEST(GraphShape, WholeBatchesFitIntoTheQuarantineOfABatchedStage) {
  const GraphShape shape = graph_shape(fashion_mnist_plan());
  EXPECT_EQ(shape.stages[1].quarantine_max, kQuarantineMin);
  EXPECT_EQ(shape.stages[3].quarantine_max, kQuarantineTasks * 256);
}

TEST(GraphShape, SupervisorAndWorkerComputeTheSame) {
  const Plan plan = fashion_mnist_plan();
  const GraphShape shape = graph_shape(plan);
  support::LineMemory memory(control_bytes<SystemPolicy>(shape));
  create_control<SystemPolicy>(memory.data(), shape);
  const GraphShape again = graph_shape(plan);
  EXPECT_TRUE(
      attach_control<SystemPolicy>(memory.data(), control_bytes<SystemPolicy>(shape), again).ok());

  Plan other = plan;
  other.stages[1].pool.rows *= 2;
  const GraphShape another = graph_shape(other);
  EXPECT_FALSE(
      attach_control<SystemPolicy>(memory.data(), control_bytes<SystemPolicy>(shape), another)
          .ok());
}

TEST(RowArrays, LieWhereThePlanSays) {
  const Plan plan = fashion_mnist_plan();
  const PlanPool& pool = plan.stages[0].pool;
  const std::vector<RowArray> arrays = row_arrays(pool);
  ASSERT_EQ(arrays.size(), 2u);
  EXPECT_EQ(arrays[0].offset_bytes, pool.tensors[0].offset);
  EXPECT_EQ(arrays[0].stride_bytes, 784u);
  EXPECT_EQ(arrays[1].stride_bytes, 1u);
}

}  // namespace
}  // namespace brigade
