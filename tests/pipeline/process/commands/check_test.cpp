#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipeline/process/commands/commands.h"
#include "tests/support/captured.h"
#include "tests/support/session.h"
#include "tests/support/temporary_folder.h"

namespace brigade {
namespace {

using testing::HasSubstr;

TEST(CheckCommand, SaysThatAGraphIsFine) {
  const TemporaryFolder folder;
  const StageTypes types = session_stage_types();
  CheckArguments arguments;
  arguments.graph.files = {folder.write("g.yaml", line_yaml("consumer: count, replicas: 2"))};
  const Captured checked = captured([&] { return check_command(arguments, types); });
  EXPECT_EQ(checked.code, 0);
  EXPECT_THAT(checked.out, HasSubstr("g.yaml: ok: 2 stages, 3 processes\n"));
}

TEST(CheckCommand, ShowsAllMistakes) {
  const TemporaryFolder folder;
  const StageTypes types = session_stage_types();
  CheckArguments arguments;
  arguments.graph.files = {folder.write("g.yaml", line_yaml("consumer: cuont, replicsa: 2"))};
  const Captured checked = captured([&] { return check_command(arguments, types); });
  EXPECT_EQ(checked.code, 2);
  EXPECT_EQ(checked.out, "");
  EXPECT_THAT(checked.err, HasSubstr("count"));
  EXPECT_THAT(checked.err, HasSubstr("replicas"));
}

}  // namespace
}  // namespace brigade
