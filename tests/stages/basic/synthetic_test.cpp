// What it gives, also at random: tests/golden/stages/synthetic.txt.

#include <gtest/gtest.h>

#include <brigade/harness.h>
#include "stages/basic/basic_stages.h"
#include "tests/support/only_type.h"

namespace brigade {
namespace {

using namespace testing_support;

TEST(SyntheticTest, RandomDependsOnSeedAndIndexOnly) {
  const auto opened = [](std::uint64_t seed) {
    OpenContext context;
    context.seed = seed;
    const ParamTexts params = {{"shape", "[13]"}, {"dtype", "u8"}, {"fill", "random"}};
    return StageHarness::open(only_type<add_synthetic>(), {params, {}, context}).value();
  };
  const auto stage = opened(1);
  const HostTensor first = stage->read(5).value()["data"];
  EXPECT_NE(stage->read(6).value()["data"], first);
  EXPECT_EQ(stage->read(5).value()["data"], first);
  EXPECT_EQ(opened(1)->read(5).value()["data"], first);
  EXPECT_NE(opened(2)->read(5).value()["data"], first);
}

}  // namespace
}  // namespace brigade
