#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "pipeline/process/commands/commands.h"
#include "tests/support/captured.h"
#include "tests/support/session.h"
#include "tests/support/temporary_folder.h"

namespace brigade {
namespace {

using testing::HasSubstr;

struct RunCommand : testing::Test {
  TemporaryFolder folder;
  StageTypes types = session_stage_types();
  RunArguments arguments;

  Captured run(const std::string& yaml) {
    arguments.graph.files = {folder.write("graph.yaml", yaml)};
    return captured([&] { return run_command(arguments, types, monotonic_ns()); });
  }
  nlohmann::json summary() const {
    std::ifstream file(folder.path() / "summary.json");
    return nlohmann::json::parse(file);
  }
};

TEST_F(RunCommand, EndsWithASummary) {
  const Captured ran = run(line_yaml("consumer: count"));
  EXPECT_EQ(ran.code, 0);
  EXPECT_THAT(ran.out, HasSubstr("graph: 1,000 samples, 1 epoch"));
  EXPECT_THAT(ran.out, HasSubstr("edge numbers -> end: produced 1,000 = delivered 1,000"));
  EXPECT_THAT(ran.out, HasSubstr("end: samples 1,000, batches"));
}

TEST_F(RunCommand, WritesTheSummaryForPrograms) {
  arguments.summary_file = folder.path() / "summary.json";
  folder.write("summary.json", std::string(100'000, 'x'));  // an older, longer one
  EXPECT_EQ(run(line_yaml("consumer: count")).code, 0);
  EXPECT_EQ(summary()["samples"], 1000);
  EXPECT_EQ(summary()["results"]["end"]["samples"], 1000);
}

TEST_F(RunCommand, WritesTheSummaryOfAFailureToo) {
  arguments.summary_file = folder.path() / "summary.json";
  EXPECT_EQ(run(line_yaml("consumer: faulty, params: {process: crash}")).code, 1);
  EXPECT_EQ(summary()["epochs"], 0);
}

TEST_F(RunCommand, QuietSaysNothingWhenAllIsWell) {
  arguments.quiet = true;
  const Captured ran = run(line_yaml("consumer: faulty, params: {process: print}", 1));
  EXPECT_EQ(ran.code, 0);
  EXPECT_EQ(ran.out, "");
  EXPECT_EQ(ran.err, "");
}

TEST_F(RunCommand, QuietStillSaysWhyItFailed) {
  arguments.quiet = true;
  const Captured ran = run(line_yaml("consumer: faulty, params: {process: fail}"));
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.err, HasSubstr("brigade: error: stage \"end\" replica 0"));
}

TEST_F(RunCommand, LogsToAFile) {
  arguments.log_file = folder.path() / "run.log";
  run(line_yaml("consumer: faulty, params: {process: print}", 1));
  std::ostringstream log;
  log << std::ifstream(arguments.log_file).rdbuf();
  EXPECT_THAT(log.str(), HasSubstr("info end.0: printed to stdout\n"));
}

TEST_F(RunCommand, FilesThatCannotBeWrittenAreSaidBeforeAnythingRuns) {
  arguments.summary_file = "/nowhere/summary.json";
  EXPECT_THAT(run(line_yaml("consumer: count")).err,
              HasSubstr("the summary: cannot write /nowhere/summary.json: No such file"));
  arguments.summary_file = "";
  arguments.log_file = "/nowhere/run.log";
  EXPECT_EQ(run(line_yaml("consumer: count")).code, 2);
}

TEST_F(RunCommand, AWrongGraphIsCode2) { EXPECT_EQ(run("stages: 7\n").code, 2); }

TEST_F(RunCommand, ResumeNeedsAPlaceForPositions) {
  arguments.resume = true;
  const Captured ran = run(line_yaml("consumer: count"));
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr("--resume needs a place where positions are kept"));
}

}  // namespace
}  // namespace brigade
