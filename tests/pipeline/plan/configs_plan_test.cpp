// `brigade plan --yaml` writes a graph that means the same: for every graph of configs/ the plan of
// its effective form is the plan itself.

#include <gtest/gtest.h>

#include "pipeline/config/effective_yaml.h"
#include "pipeline/plan/plan_json.h"
#include "pipeline/plan/planner.h"
#include "stages/builtin.h"
#include "tests/support/config_files.h"
#include "tests/support/plan_limits.h"

namespace brigade {
namespace {

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
