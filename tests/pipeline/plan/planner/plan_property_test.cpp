// What must hold for every plan, checked on random graphs by code that shares nothing with the
// planner.

#include <gtest/gtest.h>

#include <algorithm>

#include "pipeline/config/graph/effective_yaml.h"
#include "pipeline/plan/plan_check.h"
#include "pipeline/plan/plan_json.h"
#include "pipeline/plan/planner/planner.h"
#include "stages/builtin.h"
#include "tests/support/config/config_files.h"
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

const PlanQueue& reading_queue(const Plan& plan,
                               const std::pair<StageNumber, QueueNumber>& reader) {
  return plan.stages[reader.first].queues[reader.second];
}

TEST(EveryPlan, HasTasksThatDivideTheRingsTheyTouchAndTheirIndexSpacesMultiple) {
  for_each_plan([](const Plan& plan) {
    for (const PlanStage& stage : plan.stages) {
      for (const PlanQueue& queue : stage.queues) {
        EXPECT_EQ(plan.index_spaces[queue.index_space].multiple % queue.task, 0u);
        if (stage.has_ring) {
          EXPECT_EQ(stage.ring.slots % queue.task, 0u);
        }
        for (const PlanInput& input : queue.inputs)
          EXPECT_EQ(plan.stages[input.stage].ring.slots % queue.task, 0u);
      }
    }
  });
}

TEST(EveryPlan, HasRoomForAllThatIsHeldAtOnceAndAQueuedTask) {
  for_each_plan([](const Plan& plan) {
    for (const PlanStage& stage : plan.stages) {
      if (!stage.has_ring) continue;
      std::uint64_t least = stage.queues[0].task * stage.replicas;
      std::uint64_t largest = 0;
      for (const auto& reader : stage.readers) {
        least += reading_queue(plan, reader).task * plan.stages[reader.first].replicas;
        largest = std::max(largest, reading_queue(plan, reader).task);
      }
      EXPECT_GE(stage.ring.slots, least + largest);
      std::uint64_t sum = 0;
      for (const PlanTerm& term : stage.ring.terms) sum += term.slots;
      EXPECT_EQ(stage.ring.slots, sum);
    }
  });
}

TEST(EveryPlan, HasWindowsOfItsRings) {
  for_each_plan([](const Plan& plan) {
    for (const PlanStage& stage : plan.stages) {
      for (const PlanQueue& queue : stage.queues) {
        std::uint64_t slots = stage.has_ring ? stage.ring.slots : ~std::uint64_t{0};
        if (!stage.has_ring)
          for (const PlanInput& input : queue.inputs)
            slots = std::min(slots, plan.stages[input.stage].ring.slots);
        EXPECT_EQ(queue.window * queue.task, slots);
        EXPECT_EQ(queue.in_order, stage.replicas == 1);
      }
    }
  });
}

TEST(EveryPlan, HasArraysThatDoNotOverlapAndLieInTheirRing) {
  for_each_plan([](const Plan& plan) {
    for (const PlanStage& stage : plan.stages) {
      if (!stage.has_ring) continue;
      std::vector<std::pair<std::uint64_t, std::uint64_t>> taken = {{0, 32 * stage.ring.slots}};
      for (const PlanTensor& tensor : stage.ring.tensors)
        taken.emplace_back(
            tensor.offset,
            tensor.offset + tensor.slot_stride * (stage.ring.slots - 1) + tensor.slot_bytes);
      std::sort(taken.begin(), taken.end());
      for (std::size_t i = 1; i < taken.size(); ++i) EXPECT_LE(taken[i - 1].second, taken[i].first);
      EXPECT_LE(taken.back().second, stage.ring.bytes);
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

TEST(EveryPlan, HasOneIndexSpacePerStageThatItsNeighboursShare) {
  for_each_plan([](const Plan& plan) {
    for (const PlanStage& stage : plan.stages)
      for (const PlanQueue& queue : stage.queues)
        for (const PlanInput& input : queue.inputs)
          EXPECT_EQ(queue.index_space, plan.stages[input.stage].queues[0].index_space);
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
      std::uint64_t* fields[] = {&stage.replicas, &stage.batch, &stage.chunk, &stage.buffers,
                                 &stage.threads};
      *fields[random.number(0, 4)] = absurd[random.number(0, 5)];
    }
    const PlanResult result = plan_graph(graph.build(), small_machine());
    EXPECT_TRUE(!result.ok() || check_plan(result.plan).ok());
  }
}

// `brigade plan --yaml` writes a graph that means the same: for every graph of configs/ the plan of
// its effective form is the plan itself.

class ConfigPlans : public testing::TestWithParam<std::vector<std::string>> {
 protected:
  // Nothing after a mistake.
  Plan plan(const LoadedGraph& loaded) {
    EXPECT_TRUE(loaded.graph) << loaded.messages();
    if (!loaded.graph) return {};
    PlanResult planned = plan_graph(*loaded.graph, small_machine());
    EXPECT_TRUE(planned.ok());
    planned.plan.file.clear();
    return std::move(planned.plan);
  }

  StageTypes types_ = builtin_stage_types();
};

TEST_P(ConfigPlans, AreThoseOfTheirEffectiveForm) {
  const auto loaded = load_config(GetParam(), types_);
  const Plan first = plan(loaded);
  ASSERT_FALSE(first.stages.empty());
  const std::string yaml = effective_yaml(*loaded.graph);
  const Plan second = plan(load_texts({{"again.yaml", yaml, "/elsewhere"}}, types_));
  EXPECT_EQ(plan_to_json(first), plan_to_json(second)) << yaml;
  EXPECT_TRUE(first == second);
}

TEST_P(ConfigPlans, ComeBackFromTheirJson) {
  const Plan first = plan(load_config(GetParam(), types_));
  const auto again = plan_from_json(plan_to_json(first));
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_TRUE(*again == first);
}

INSTANTIATE_TEST_SUITE_P(Files, ConfigPlans, testing::ValuesIn(config_graphs()),
                         [](const auto& files) { return config_test_name(files.param); });

// The comparison above can fail.
TEST(ConfigPlansControl, AnotherGraphHasAnotherPlan) {
  const StageTypes types = builtin_stage_types();
  const auto text = [](const char* batch) {
    return std::string("stages:\n  a: {producer: synthetic, batch: ") + batch +
           "}\n  b: {consumer: count, from: a}\n";
  };
  const auto one = load_texts({{"g.yaml", text("8"), "/"}}, types);
  const auto two = load_texts({{"g.yaml", text("16"), "/"}}, types);
  ASSERT_TRUE(one.graph && two.graph);
  EXPECT_FALSE(plan_graph(*one.graph, small_machine()).plan ==
               plan_graph(*two.graph, small_machine()).plan);
}

}  // namespace
}  // namespace brigade
