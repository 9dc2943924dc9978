// What the check says of weights: tests/golden/sources/weights.txt.

#include <gtest/gtest.h>

#include <brigade/text.h>
#include "pipeline/api/load_and_plan.h"
#include "stages/builtin.h"
#include "tests/support/temporary_folder.h"

namespace brigade {
namespace {

TEST(WeightedGraph, KnowsTheSamplesOfAnEpochBeforeTheRun) {
  const TemporaryFolder folder;
  folder.write("w.txt", "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n");
  const auto count = [&](const std::string& keys) {
    const std::string file = folder.write(
        "g.yaml",
        concat("stages:\n  images: {producer: synthetic, params: {count: 10}, shuffle: true, ",
               keys, "}\n  sink: {consumer: count, from: images}\n"));
    const auto result = plan_files({{file}, {}, {}}, builtin_stage_types());
    EXPECT_EQ(result.messages, "");
    return result.sources.at(0).gives;
  };
  EXPECT_EQ(count("weights: w.txt"), 10u);
  EXPECT_EQ(count("weights: w.txt, limit: 4"), 4u);
  EXPECT_EQ(count("weights: w.txt, limit: 4, samples: 25"), 25u);
}

}  // namespace
}  // namespace brigade
