#include "stages/api/stage.h"

#include <gtest/gtest.h>

namespace brigade {
namespace {

struct NoParams {};

class Silent : public Stage {
  Result<Next> process(const Inputs&, Outputs&) override { return Next::drop; }
};

TEST(StageTest, OnlyProcessMustBeWritten) {
  const std::unique_ptr<Stage> stage = std::make_unique<Silent>();
  EXPECT_TRUE(stage->open({}));
  EXPECT_TRUE(stage->epoch_end({}));
  EXPECT_TRUE(stage->close());
}

TEST(OpenContextTest, RefusesTheWrongParameterStruct) {
  const NoParams params;
  OpenContext context;
  context.params_data = &params;
  context.params_type = typeid(NoParams).name();
  EXPECT_EQ(&context.params<NoParams>(), &params);
  EXPECT_DEATH((void)context.params<int>(), "params_type");
}

}  // namespace
}  // namespace brigade
