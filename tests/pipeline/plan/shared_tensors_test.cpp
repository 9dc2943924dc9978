#include "pipeline/plan/shared_tensors.h"

#include <gtest/gtest.h>

#include "pipeline/plan/plan_check.h"
#include "pipeline/plan/plan_json.h"
#include "tests/support/small_plan.h"

namespace brigade {
namespace {

/// `replicas` of a consumer that maps it.
PlanResult planned_sharing(ValidShared shared, std::uint64_t replicas) {
  GraphBuilder builder("small");
  builder.producer("numbers", {{"value", i64, {}}});
  ValidStage& sink = builder.consumer("sink", {"numbers"});
  sink.replicas = replicas;
  sink.shared = {0};
  builder.build();
  builder.graph().shared.push_back(std::move(shared));
  return plan_graph(builder.graph(), small_machine());
}

ValidShared parts_of(std::int64_t size) {
  ValidShared shared;
  shared.type = {"result", f32, {size, 10}};
  shared.own_part = true;
  return shared;
}

TEST(SharedTensorsPlan, IsPartOfTheMemoryAndOfThePlanThatWorkersRead) {
  const PlanResult planned = planned_sharing(parts_of(1000), 4);
  ASSERT_TRUE(planned.ok()) << planned.problems.front().message;
  const Plan& plan = planned.plan;
  EXPECT_EQ(plan.shared.at(0).bytes, 40'000u);
  EXPECT_EQ(plan.shared.at(0).parts, 4u);
  EXPECT_GE(plan.memory_bytes, 40'000u + 64);
  const auto read = plan_from_json(plan_to_json(plan, -1));
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(*read, plan);
}

TEST(SharedTensorsPlan, RefusesPartsThatDoNotDivideAndWhatTheMachineLacks) {
  const PlanResult uneven = planned_sharing(parts_of(1001), 4);
  ASSERT_FALSE(uneven.ok());
  EXPECT_EQ(uneven.problems.front().message,
            "shared tensor result: its first dimension, 1001, does not divide among 4 replicas "
            "(`access: own_part`)");
  const PlanResult large = planned_sharing(parts_of(std::int64_t{1} << 50), 4);
  ASSERT_FALSE(large.ok());
  EXPECT_NE(large.problems.front().message.find("shared tensor result needs 40960.0 TiB"),
            std::string::npos)
      << large.problems.front().message;
}

TEST(SharedTensorsPlan, LaysPartsSideBySideOrApartBetweenBytesOfNobody) {
  PlanShared shared;
  shared.type = {"result", f32, {6}};
  shared.bytes = 24;
  shared.own_part = true;
  shared.parts = 2;
  const SharedLayout tight = shared_layout(shared, false);
  EXPECT_EQ(tight.stride, 12u);
  EXPECT_EQ(tight.bytes, 8192u);
  const SharedLayout apart = shared_layout(shared, true);
  EXPECT_EQ(apart.stride, 4096u);
  EXPECT_EQ(apart.lead, 4096u - 64);
  EXPECT_EQ(apart.bytes, 3 * 4096u);
}

TEST(SharedTensorsPlan, APlanThatWasReadMustFit) {
  const Plan good = planned_sharing(parts_of(1000), 4).plan;
  const auto refused = [&](auto&& damage) {
    Plan plan = good;
    damage(plan);
    return !check_plan(plan).ok();
  };
  EXPECT_FALSE(refused([](Plan&) {}));
  EXPECT_TRUE(refused([](Plan& plan) { plan.shared[0].bytes = 1; }));
  EXPECT_TRUE(refused([](Plan& plan) { plan.shared[0].parts = 3; }));
  EXPECT_TRUE(refused([](Plan& plan) { plan.shared[0].init_stage = 7; }));
  EXPECT_TRUE(refused([](Plan& plan) { plan.stages[1].shared = {1}; }));
}

}  // namespace
}  // namespace brigade
