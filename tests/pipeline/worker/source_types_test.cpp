#include "pipeline/worker/source_types.h"

#include <gtest/gtest.h>

#include "stages/builtin.h"

namespace brigade {
namespace {

TEST(SourceTypes, AreThoseOfTheProgramAndListedOnceWhenAskedFor) {
  int listed = 0;
  const auto list = [&listed] {
    ++listed;
    return builtin_stage_types();
  };
  SourceTypes types(list, {"/no/such/plugin.so"});
  ReplicaSetup setup;
  types.name_samples(setup);
  EXPECT_EQ(listed, 0);
  PlanStage source;
  source.type = "csv";
  const StageType* const found = setup.find_type(source);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->contract.type, "csv");
  EXPECT_TRUE(setup.make_source(*found).ok());
  source.type = "of_the_plugin";
  EXPECT_EQ(setup.find_type(source), nullptr);
  EXPECT_EQ(listed, 1);
}

}  // namespace
}  // namespace brigade
