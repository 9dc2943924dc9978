#include "pipeline/report/plan_report.h"
#include "pipeline/report/source_json.h"

#include <gtest/gtest.h>

#include "pipeline/plan/plan_json.h"
#include "tests/support/small_plan.h"

namespace brigade {
namespace {

using nlohmann::ordered_json;

TEST(PlanReport, IsThePlanWithWhatIsKnownOfAnEpoch) {
  GraphBuilder graph("known");
  graph.producer("images", {{"x", u8, {4}}}).samples = 100;
  graph.consumer("train", {"images"});
  const Plan plan = plan_of(graph);
  const std::string text = plan_report(
      plan,
      {{"images", 40, {{SkipReason::no_match, 30, "keys without an image"}}}, {"live", {}, {}}},
      {{"train", "images", 40, 3}, {"watch", "live", {}, {}, "stage \"live\" is a stream"}},
      {"RANK, WORLD_SIZE", "", {"PMI_RANK, PMI_SIZE: rank 1 of 2"}},
      {{"image", "libjpeg-turbo 2.1.5, libpng 1.6.39"}});
  EXPECT_EQ(plan_to_json(plan_from_json(text).value()), plan_to_json(plan));
  const ordered_json report = ordered_json::parse(text);
  EXPECT_EQ(report["sources"], ordered_json::parse(R"([
      {"name": "images", "found": 70, "gives": 40,
       "skipped": [{"count": 30, "why": "no_match", "text": "keys without an image"}]},
      {"name": "live", "found": null, "gives": null, "skipped": []}])"));
  EXPECT_EQ(report["consumers"], ordered_json::parse(R"([
      {"name": "train", "from": "images", "samples": 40, "batches": 3, "unknown": ""},
      {"name": "watch", "from": "live", "samples": null, "batches": null,
       "unknown": "stage \"live\" is a stream"}])"));
  EXPECT_EQ(report["ranks"], ordered_json::parse(R"(
      {"by": "RANK, WORLD_SIZE", "half": "", "unlike": ["PMI_RANK, PMI_SIZE: rank 1 of 2"]})"));
  EXPECT_EQ(report["libraries"],
            ordered_json::parse(R"({"image": "libjpeg-turbo 2.1.5, libpng 1.6.39"})"));
}

}  // namespace
}  // namespace brigade
