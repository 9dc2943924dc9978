#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipeline/process/commands/commands.h"
#include "pipeline/process/graph_files.h"
#include "stages/builtin.h"
#include "tests/support/captured.h"
#include "tests/support/temporary_folder.h"

namespace brigade {
namespace {

using testing::HasSubstr;

struct InitCommand : testing::Test {
  TemporaryFolder folder;
  StageTypes types = builtin_stage_types();
  std::string file = folder.path() / "graph.yaml";

  Captured run(const std::string& data) {
    return captured([&] { return init_command({data, file}, types); });
  }
};

TEST_F(InitCommand, WritesAGraphThatChecks) {
  std::filesystem::create_directory(folder.path() / "empty");
  const Captured ran = run(folder.path() / "empty");
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("graph.yaml"));
  EXPECT_EQ(ran.err, "");
  EXPECT_TRUE(plan_files({{file}, {}, {}}, types).plan);
}

TEST_F(InitCommand, SaysWhatItFound) {
  std::filesystem::create_directory(folder.path() / "empty");
  EXPECT_THAT(run(folder.path() / "empty").out,
              HasSubstr("found nothing that `brigade init` knows (IDX files or images); the graph "
                        "makes samples up\nwrote "));
}

TEST_F(InitCommand, KeepsAFileThatIsThere) {
  folder.write("graph.yaml", "mine");
  const Captured ran = run(folder.path());
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr("is there already"));
}

TEST_F(InitCommand, AFolderThatIsNotThereIsSaid) { EXPECT_EQ(run("/nowhere").code, 2); }

}  // namespace
}  // namespace brigade
