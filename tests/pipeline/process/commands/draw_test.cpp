#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipeline/process/commands/commands.h"
#include "tests/support/captured.h"
#include "tests/support/session.h"
#include "tests/support/temporary_folder.h"

namespace brigade {
namespace {

using testing::HasSubstr;

std::string drawn(const std::string& format) {
  const TemporaryFolder folder;
  const StageTypes types = session_stage_types();
  DrawArguments arguments;
  arguments.graph.files = {folder.write("g.yaml", line_yaml("consumer: count"))};
  arguments.format = format;
  const Captured shown = captured([&] { return draw_command(arguments, types); });
  EXPECT_EQ(shown.code, 0);
  return shown.out;
}

TEST(DrawCommand, DrawsInEveryFormat) {
  EXPECT_THAT(drawn("ascii"), HasSubstr("numbers"));
  EXPECT_THAT(drawn("dot"), HasSubstr("digraph"));
  EXPECT_THAT(drawn("svg"), HasSubstr("<svg"));
}

TEST(DrawCommand, AWrongGraphIsCode2) {
  const StageTypes types = session_stage_types();
  DrawArguments arguments;
  arguments.graph.files = {"/nowhere.yaml"};
  EXPECT_EQ(captured([&] { return draw_command(arguments, types); }).code, 2);
}

}  // namespace
}  // namespace brigade
