#include <brigade/pipeline.h>

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/support/faulty_stages.h"

namespace brigade {
namespace {

struct Settings : testing::Test {
  char name[8] = "program";
  char* arguments[1] = {name};
  App app{1, arguments, faulty_stage_types()};
  Pipeline pipeline = Pipeline::from_text(
      "stages:\n  numbers: {producer: synthetic, params: {count: 1000}}\n"
      "  end: {consumer: count, from: numbers}\n");

  nlohmann::json plan() {
    const auto json = pipeline.plan_json(app);
    EXPECT_TRUE(json.ok()) << json.error().message;
    return nlohmann::json::parse(json.ok() ? *json : "{}");
  }
};

TEST_F(Settings, ALimitCountsInPlans) {
  EXPECT_EQ(plan()["consumers"][0]["samples"], 1000);
  pipeline.limit(30);
  EXPECT_EQ(plan()["consumers"][0]["samples"], 30);
}

TEST_F(Settings, ARankIsWeakerThanTheGraphUnlessItIsOverIt) {
  pipeline.rank(1, 4);
  EXPECT_EQ(plan()["consumers"][0]["samples"], 250);
  EXPECT_EQ(plan()["ranks"]["by"], "program");
  pipeline.set("shard={rank: 0, world: 2}");
  EXPECT_EQ(plan()["consumers"][0]["samples"], 500);
  EXPECT_EQ(plan()["ranks"]["by"], "shard");
  pipeline.rank(1, 4, true);
  EXPECT_EQ(plan()["consumers"][0]["samples"], 250);
  pipeline.rank(0, 0);
  EXPECT_EQ(plan()["consumers"][0]["samples"], 500);
}

}  // namespace
}  // namespace brigade
