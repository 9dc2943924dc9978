#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipeline/plan/plan_json.h"
#include "pipeline/process/commands/commands.h"
#include "tests/support/captured.h"
#include "tests/support/session.h"
#include "tests/support/temporary_folder.h"

namespace brigade {
namespace {

using testing::HasSubstr;

struct PlanCommand : testing::Test {
  TemporaryFolder folder;
  StageTypes types = session_stage_types();
  PlanArguments arguments;

  PlanCommand() { arguments.graph.files = {folder.write("g.yaml", line_yaml("consumer: count"))}; }
  Captured run() {
    return captured([&] { return plan_command(arguments, types); });
  }
};

TEST_F(PlanCommand, ShowsWhatWillRun) {
  const Captured shown = run();
  EXPECT_EQ(shown.code, 0);
  EXPECT_THAT(shown.out, HasSubstr("2 processes"));
  EXPECT_THAT(shown.out, HasSubstr("numbers -> end: "));
}

TEST_F(PlanCommand, WritesJsonThatReadsBack) {
  arguments.json = true;
  EXPECT_TRUE(plan_from_json(run().out).ok());
}

TEST_F(PlanCommand, WritesYamlThatMeansTheSame) {
  arguments.yaml = true;
  const std::string yaml = run().out;
  EXPECT_THAT(yaml, HasSubstr("checksum: true"));
  PlanArguments again;
  again.graph.files = {folder.write("again.yaml", yaml)};
  again.yaml = true;
  EXPECT_EQ(captured([&] { return plan_command(again, types); }).out, yaml);
}

TEST_F(PlanCommand, AWrongGraphIsCode2) {
  arguments.graph.sets = {"stages.end.consumer=nothing"};
  EXPECT_EQ(run().code, 2);
}

}  // namespace
}  // namespace brigade
