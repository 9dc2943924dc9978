#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipeline/process/commands/commands.h"
#include "stages/builtin.h"
#include "tests/support/captured.h"

namespace brigade {
namespace {

using testing::HasSubstr;

TEST(CompletionsCommand, KnowsTheRealCommandsAndStageTypes) {
  const StageTypes types = builtin_stage_types();
  const Command command = parse_command_line({"brigade", "completions", "bash"});
  const auto& arguments = std::get<CompletionsArguments>(command);
  const Captured ran = captured([&] { return completions_command(arguments, types); });
  EXPECT_EQ(ran.code, 0);
  EXPECT_THAT(ran.out, HasSubstr("run check plan graph stages sample init holders doctor "
                                 "completions"));
  EXPECT_THAT(ran.out, HasSubstr("--in-process"));
  EXPECT_THAT(ran.out, HasSubstr("synthetic"));
}

}  // namespace
}  // namespace brigade
