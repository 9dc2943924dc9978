#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>

#include "pipeline/process/commands/commands.h"
#include "tests/support/captured.h"
#include "tests/support/session.h"
#include "tests/support/temporary_folder.h"

namespace brigade {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

struct SampleCommand : testing::Test {
  TemporaryFolder folder;
  StageTypes types = session_stage_types();
  SampleArguments arguments;

  SampleCommand() {
    arguments.graph.files = {folder.write(
        "g.yaml",
        "epochs: 100\n"
        "stages:\n"
        "  images: {producer: synthetic, params: {count: 1000, shape: [4, 6, 3], dtype: u8}}\n"
        "  same: {transform: passthrough, from: images, replicas: 2}\n"
        "  end: {consumer: faulty, from: same, params: {open: crash}}\n")};
    arguments.stage = "same";
    arguments.count = 3;
    arguments.folder = folder.path() / "out";
  }
  Captured run() {
    return captured([&] { return sample_command(arguments, types); });
  }
};

TEST_F(SampleCommand, WritesWhatAStageEmitsWithItsIds) {
  const Captured ran = run();
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("sample 0 (epoch 0, id 0): 000000_"));
  EXPECT_THAT(ran.out, HasSubstr("3 samples in "));
  std::ostringstream table;
  table << std::ifstream(fs::path(arguments.folder) / "samples.tsv").rdbuf();
  EXPECT_THAT(table.str(), HasSubstr("file\tnumber\tepoch\tid\t"));
  EXPECT_THAT(table.str(), HasSubstr("\n000002\t2\t0\t2\t000002_"));
  const auto files = std::distance(fs::directory_iterator(arguments.folder), {});
  EXPECT_GE(files, 4);
}

TEST_F(SampleCommand, AShortStreamGivesWhatThereIs) {
  arguments.graph.limit = 2;
  arguments.graph.sets = {"epochs=1"};
  const Captured ran = run();
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("2 samples in "));
}

TEST_F(SampleCommand, AStageThatIsNotThereIsGuessed) {
  arguments.stage = "sane";
  const Captured ran = run();
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr("did you mean \"same\"?"));
}

TEST_F(SampleCommand, AConsumerEmitsNothing) {
  arguments.stage = "end";
  EXPECT_THAT(run().err, HasSubstr("is a consumer"));
}

TEST_F(SampleCommand, AFolderThatCannotBeMadeIsSaid) {
  arguments.folder = folder.write("file", "x") + "/below";
  const Captured ran = run();
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr("cannot make the folder"));
}

}  // namespace
}  // namespace brigade
