// What must hold for every plan, checked on random graphs by code that shares nothing with the
// planner.

#include <gtest/gtest.h>

#include <algorithm>

#include "pipeline/plan/plan_check.h"
#include "pipeline/plan/plan_json.h"
#include "pipeline/plan/planner.h"
#include "tests/support/plan_limits.h"
#include "tests/support/random_graph.h"

namespace brigade {
namespace {

constexpr std::uint64_t kGraphs = 3000;

MachineLimits large_machine() {
  MachineLimits limits = small_machine();
  limits.cores_affinity = 16;
  limits.memory_available_bytes = std::uint64_t{1} << 45;
  return limits;
}

/// Plans of many random graphs; few are refused.
template <class Check>
void for_each_plan(Check check) {
  std::uint64_t refused = 0;
  for (std::uint64_t seed = 0; seed < kGraphs; ++seed) {
    SCOPED_TRACE(seed);
    GraphBuilder graph = RandomGraph(seed).make();
    const PlanResult result = plan_graph(graph.build(), large_machine());
    if (!result.ok()) {
      ++refused;
      continue;
    }
    check(result.plan);
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_LT(refused, kGraphs / 2);
}

const PlanLane& reading_lane(const Plan& plan, const std::pair<int, int>& reader) {
  return plan.stages[reader.first].lanes[reader.second];
}

TEST(EveryPlan, HasTasksThatDivideTheRingsTheyTouchAndTheirDomainsMultiple) {
  for_each_plan([](const Plan& plan) {
    for (const PlanStage& stage : plan.stages) {
      for (const PlanLane& lane : stage.lanes) {
        EXPECT_EQ(plan.domains[lane.domain].multiple % lane.task, 0u);
        if (stage.has_pool) {
          EXPECT_EQ(stage.pool.rows % lane.task, 0u);
        }
        for (const PlanInput& input : lane.inputs)
          EXPECT_EQ(plan.stages[input.stage].pool.rows % lane.task, 0u);
      }
    }
  });
}

TEST(EveryPlan, HasRoomForAllThatIsHeldAtOnceAndAQueuedTask) {
  for_each_plan([](const Plan& plan) {
    for (const PlanStage& stage : plan.stages) {
      if (!stage.has_pool) continue;
      std::uint64_t least = stage.lanes[0].task * stage.replicas;
      std::uint64_t largest = 0;
      for (const auto& reader : stage.readers) {
        least += reading_lane(plan, reader).task * plan.stages[reader.first].replicas;
        largest = std::max(largest, reading_lane(plan, reader).task);
      }
      EXPECT_GE(stage.pool.rows, least + largest);
      std::uint64_t sum = 0;
      for (const PlanHolder& holder : stage.pool.holders) sum += holder.rows;
      EXPECT_EQ(stage.pool.rows, sum);
    }
  });
}

TEST(EveryPlan, HasWindowsOfItsRings) {
  for_each_plan([](const Plan& plan) {
    for (const PlanStage& stage : plan.stages) {
      for (const PlanLane& lane : stage.lanes) {
        std::uint64_t rows = stage.has_pool ? stage.pool.rows : ~std::uint64_t{0};
        if (!stage.has_pool)
          for (const PlanInput& input : lane.inputs)
            rows = std::min(rows, plan.stages[input.stage].pool.rows);
        EXPECT_EQ(lane.window * lane.task, rows);
        EXPECT_EQ(lane.in_order, stage.replicas == 1);
      }
    }
  });
}

TEST(EveryPlan, HasArraysThatDoNotOverlapAndLieInTheirPool) {
  for_each_plan([](const Plan& plan) {
    for (const PlanStage& stage : plan.stages) {
      if (!stage.has_pool) continue;
      std::vector<std::pair<std::uint64_t, std::uint64_t>> taken = {{0, 32 * stage.pool.rows}};
      for (const PlanTensor& tensor : stage.pool.tensors)
        taken.emplace_back(
            tensor.offset,
            tensor.offset + tensor.row_stride * (stage.pool.rows - 1) + tensor.row_bytes);
      std::sort(taken.begin(), taken.end());
      for (std::size_t i = 1; i < taken.size(); ++i) EXPECT_LE(taken[i - 1].second, taken[i].first);
      EXPECT_LE(taken.back().second, stage.pool.bytes);
    }
  });
}

TEST(EveryPlan, NumbersReplicasWithoutGaps) {
  for_each_plan([](const Plan& plan) {
    int next = 0;
    for (const PlanStage& stage : plan.stages) {
      EXPECT_EQ(stage.first_replica, next);
      EXPECT_GE(stage.replicas, 1);
      next += stage.replicas;
    }
    EXPECT_EQ(plan.replicas, next);
  });
}

TEST(EveryPlan, HasOneDomainPerStageThatItsNeighboursShare) {
  for_each_plan([](const Plan& plan) {
    for (const PlanStage& stage : plan.stages)
      for (const PlanLane& lane : stage.lanes)
        for (const PlanInput& input : lane.inputs)
          EXPECT_EQ(lane.domain, plan.stages[input.stage].lanes[0].domain);
  });
}

TEST(EveryPlan, PassesItsOwnCheckAndSurvivesJson) {
  for_each_plan([](const Plan& plan) {
    const Result<void> checked = check_plan(plan);
    EXPECT_TRUE(checked.ok()) << checked.error().message;
    const Result<Plan> read = plan_from_json(plan_to_json(plan, -1));
    ASSERT_TRUE(read.ok()) << read.error().message;
    EXPECT_EQ(*read, plan);
  });
}

TEST(EveryGraph, OfAbsurdNumbersIsRefusedOrPlannedButNeverCrashes) {
  const std::uint64_t absurd[] = {1, 1u << 20, 1u << 21, 1ull << 40, ~0ull / 2, ~0ull};
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    RandomGraph random(seed);
    GraphBuilder graph = random.make();
    for (ValidStage& stage : graph.graph().stages) {
      std::uint64_t* fields[] = {&stage.replicas, &stage.batch, &stage.rows, &stage.buffers,
                                 &stage.threads};
      *fields[random.number(0, 4)] = absurd[random.number(0, 5)];
    }
    const PlanResult result = plan_graph(graph.build(), small_machine());
    EXPECT_TRUE(!result.ok() || check_plan(result.plan).ok());
  }
}

}  // namespace
}  // namespace brigade
