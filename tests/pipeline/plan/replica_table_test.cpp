#include "pipeline/plan/replica_table.h"

#include <gtest/gtest.h>

#include "tests/support/small_plan.h"

namespace brigade {
namespace {

TEST(ReplicaTable, NumbersTheReplicasOfAllStagesInTheirOrder) {
  const Plan plan = small_plan(2);  // numbers -> two sinks
  const ReplicaTable table(plan);
  ASSERT_EQ(table.size(), plan.replicas);
  for (int number = 0; number < plan.replicas; ++number)
    EXPECT_EQ(table.stage(number).first_replica + table.replica(number), number);
  EXPECT_EQ(table.stage_index(2), 1);
  EXPECT_EQ(table.name(2), "sink.1");
  EXPECT_EQ(table.title(0), "stage \"numbers\" replica 0");
}

}  // namespace
}  // namespace brigade
