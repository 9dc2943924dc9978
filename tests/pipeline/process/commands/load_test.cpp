#include "pipeline/process/commands/load.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stages/builtin.h"
#include "tests/support/captured.h"
#include "tests/support/session.h"
#include "tests/support/temporary_folder.h"

namespace brigade {
namespace {

using testing::HasSubstr;

TEST(LoadAndShow, ShowsMistakesAndGivesNothing) {
  const TemporaryFolder folder;
  const StageTypes types = builtin_stage_types();
  const GraphFiles wrong{{folder.write("graph.yaml", line_yaml("consumer: cuont"))}, {}, {}};
  const Captured loaded = captured([&] { return load_and_show(wrong, types).graph ? 1 : 0; });
  EXPECT_EQ(loaded.code, 0);
  EXPECT_THAT(loaded.err, HasSubstr("did you mean \"count\"?"));
  const Captured planned = captured([&] { return plan_and_show(wrong, types).plan ? 1 : 0; });
  EXPECT_EQ(planned.code, 0);
  EXPECT_EQ(planned.err, loaded.err);
}

TEST(LoadAndShow, IsSilentAboutAGraphThatIsFine) {
  const TemporaryFolder folder;
  const StageTypes types = builtin_stage_types();
  const GraphFiles fine{{folder.write("graph.yaml", line_yaml("consumer: count"))}, {}, {}};
  const Captured planned = captured([&] { return plan_and_show(fine, types).plan ? 1 : 0; });
  EXPECT_EQ(planned.code, 1);
  EXPECT_EQ(planned.err, "");
}

}  // namespace
}  // namespace brigade
