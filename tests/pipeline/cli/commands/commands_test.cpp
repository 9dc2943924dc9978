#include "pipeline/cli/commands/print.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>

#include <brigade/text.h>
#include "pipeline/cli/commands/leases.h"
#include "pipeline/memory/shared_segments.h"
#include "pipeline/plan/plan_json.h"
#include "stages/builtin.h"
#include "tests/support/captured.h"
#include "tests/support/session.h"
#include "tests/support/small_plan.h"
#include "tests/support/temporary_folder.h"

namespace brigade {
namespace {

using testing::HasSubstr;

struct RunCommand : testing::Test {
  TemporaryFolder folder;
  StageTypes types = session_stage_types();

  Captured run(const std::string& yaml, std::vector<std::string> flags = {}) {
    flags.insert(flags.begin(), {"run", folder.write("graph.yaml", yaml)});
    return captured_command(flags, types);
  }
};

TEST_F(RunCommand, EndsWithASummary) {
  const Captured ran = run(line_yaml("consumer: count"));
  EXPECT_EQ(ran.code, 0);
  EXPECT_THAT(ran.out, HasSubstr("graph: 1,000 samples, 1 epoch"));
  EXPECT_THAT(ran.out, HasSubstr("all samples were delivered"));
  EXPECT_THAT(ran.out, HasSubstr("end: samples 1,000, batches"));
}

TEST_F(RunCommand, QuietSaysNothingWhenAllIsWell) {
  const Captured ran = run(line_yaml("consumer: faulty, params: {process: print}", 1), {"--quiet"});
  EXPECT_EQ(ran.code, 0);
  EXPECT_EQ(ran.out, "");
  EXPECT_EQ(ran.err, "");
}

TEST_F(RunCommand, QuietStillSaysWhyItFailed) {
  const Captured ran = run(line_yaml("consumer: faulty, params: {process: fail}"), {"--quiet"});
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.err, HasSubstr("brigade: error: stage \"end\" replica 0"));
}

TEST(DoctorCommand, LooksAtThisMachine) {
  const Captured ran = captured_command({"doctor"}, builtin_stage_types());
  for (const char* what : {"cores", "memory", "descriptors", "kernel", "GPU", "packages"}) {
    EXPECT_THAT(ran.out, HasSubstr(what));
  }
  EXPECT_EQ(ran.code, ran.out.find("BAD") == std::string::npos ? 0 : 1);
}

TEST(CheckCommand, RefusesAStageWhoseModuleIsNotInstalled) {
  const TemporaryFolder folder;
  StageTypes types = session_stage_types();
  struct Params {};
  types.add_from_module(Contract<Params>("elsewhere", "Is in a module.").consumer(), "elsewhere");
  const std::string yaml = folder.write("g.yaml", line_yaml("consumer: elsewhere"));
  const Captured refused = captured_command({"check", yaml}, types);
  EXPECT_EQ(refused.code, 2);
  EXPECT_EQ(refused.out, "");
  EXPECT_THAT(refused.err, HasSubstr("stage \"end\": stage type \"elsewhere\" is in the module "
                                     "\"elsewhere\", which was not found: there is no "
                                     "brigade_elsewhere.so in "));
  EXPECT_EQ(captured_command({"plan", yaml}, types).code, 0) << "where it will run it may be";
}

TEST(CheckCommand, NeedsNoModuleOfAStageAboveAFullCache) {
  const TemporaryFolder folder;
  const StageTypes types = session_stage_types();
  const std::string yaml = folder.write(
      "g.yaml",
      concat("stages:\n  numbers: {producer: synthetic, params: {count: 20, shape: [4]}}\n"
             "  same: {transform: passthrough, from: numbers}\n"
             "  kept: {transform: cache, from: same, params: {file: \"",
             std::string(folder.path() / "kept.cache"),
             "\"}}\n  end: {consumer: count, from: kept}\n"));
  StageType elsewhere = *types.find("passthrough");
  elsewhere.module = "elsewhere";
  elsewhere.make_stage = nullptr;
  const StageTypes without = StageTypes().add(elsewhere).append(types);
  EXPECT_THAT(captured_command({"check", yaml}, without).err, HasSubstr("module \"elsewhere\""));
  const Captured ran = captured_command({"run", yaml}, types);
  ASSERT_EQ(ran.code, 0) << ran.err;
  const Captured checked = captured_command({"check", yaml}, without);
  EXPECT_EQ(checked.code, 0) << checked.err;
}

struct PlanCommand : testing::Test {
  TemporaryFolder folder;
  StageTypes types = session_stage_types();

  Captured run(std::vector<std::string> flags = {}) {
    flags.insert(flags.begin(), {"plan", folder.write("g.yaml", line_yaml("consumer: count"))});
    return captured_command(flags, types);
  }
};

TEST_F(PlanCommand, ShowsWhatWillRun) {
  const Captured shown = run();
  EXPECT_EQ(shown.code, 0);
  EXPECT_THAT(shown.out, HasSubstr("2 processes"));
  EXPECT_THAT(shown.out, HasSubstr("numbers -> end: "));
}

TEST_F(PlanCommand, WritesJsonThatReadsBack) {
  EXPECT_TRUE(plan_from_json(run({"--json"}).out).ok());
}

TEST(LeasesCommand, ShowsARunningGraph) {
  const Plan plan = small_plan(2);
  const auto segments = SharedSegments::create(plan, {}).value();
  const Captured ran = captured_command({"leases", std::to_string(getpid())}, {});
  EXPECT_EQ(ran.code, 0);
  for (const char* word : {"numbers.0", "sink.1", "has not started", "an unknown number"}) {
    EXPECT_THAT(ran.out, HasSubstr(word));
  }
}

TEST(LeasesCommand, ThatNoGraphRunsIsAnAnswer) {
  const Captured ran = captured([] { return show_leases({}, 0); });
  EXPECT_EQ(ran.code, 0);
  EXPECT_EQ(ran.out, "no graph is running\n");
}

TEST(LeasesCommand, PassesOverAGraphThatHasEndedSinceItWasFound) {
  const auto segments = SharedSegments::create(small_plan(2), {}).value();
  const RunningGraph there{getpid(), concat("/proc/self/fd/", segments->control_fd()),
                           concat("/proc/self/fd/", segments->plan_fd())};
  const RunningGraph ended{1, "/proc/self/fd/9999", "/proc/self/fd/9999"};
  const Captured both = captured([&] { return show_leases({ended, there}, 0); });
  EXPECT_EQ(both.code, 0);
  EXPECT_EQ(both.err, "");
  EXPECT_THAT(both.out, HasSubstr("numbers.0"));
  const Captured asked = captured([&] { return show_leases({ended, there}, 1); });
  EXPECT_EQ(asked.code, 1);
  EXPECT_THAT(asked.err, HasSubstr("process 1 runs no graph"));
}

TEST(Print, ResultsAndMessagesGoTheirWays) {
  const Captured both = captured([] {
    print("result\n");
    print_error("message\n");
    return 0;
  });
  EXPECT_EQ(both.out, "result\n");
  EXPECT_EQ(both.err, "message\n");
}

TEST(Print, AReaderThatHasGoneIsNoError) {
  signal(SIGPIPE, SIG_IGN);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  close(ends[0]);
  const int kept = dup(STDOUT_FILENO);
  dup2(ends[1], STDOUT_FILENO);
  print("nobody reads this\n");
  dup2(kept, STDOUT_FILENO);
  close(kept);
  close(ends[1]);
}

Captured stages(std::vector<std::string> words = {}) {
  words.insert(words.begin(), "stages");
  return captured_command(words, session_stage_types());
}

TEST(StagesCommand, ListsAllStageTypes) {
  EXPECT_EQ(stages().code, 0);
  EXPECT_THAT(stages().out, HasSubstr("synthetic"));
  EXPECT_THAT(stages().out, HasSubstr("faulty"));
}

TEST(StagesCommand, ExplainsTheKeysOfTheLanguage) {
  const Captured shown = stages({"--keys"});
  EXPECT_EQ(shown.code, 0);
  EXPECT_THAT(shown.out, HasSubstr("poison_after"));
}

TEST(StagesCommand, ShowsTheTypesOfAPlugin) {
  const std::string folder = BRIGADE_BINARY_DIR "/tests/modules/";
  const auto with = [&](const std::string& file) {
    return stages({"light", "--plugin", folder + file});
  };
  EXPECT_EQ(with("brigade_plugin.so").code, 0);
  EXPECT_THAT(with("brigade_plugin.so").out, HasSubstr("from the plugin library " + folder));
  EXPECT_EQ(with("brigade_no_symbol.so").code, 2);
  EXPECT_THAT(with("brigade_no_symbol.so").err, HasSubstr("is not a plugin of Brigade"));
}

TEST(StagesCommand, WritesTheSchemaForEditors) {
  const Captured shown = stages({"--json-schema"});
  EXPECT_EQ(shown.code, 0);
  EXPECT_THAT(shown.out, HasSubstr("\"$schema\""));
}

}  // namespace
}  // namespace brigade
