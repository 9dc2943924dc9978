#include "pipeline/config/graph_spec.h"

#include <gtest/gtest.h>

namespace brigade {
namespace {

TEST(StageSpec, KnowsWhichKeysWereGiven) {
  StageSpec stage;
  stage.keys.emplace_back("batch", Span{});
  EXPECT_TRUE(stage.has_key("batch"));
  EXPECT_FALSE(stage.has_key("rows"));
}

}  // namespace
}  // namespace brigade
