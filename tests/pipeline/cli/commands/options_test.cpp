#include "pipeline/cli/commands/options.h"
#include "pipeline/cli/commands/command_line.h"
#include "pipeline/cli/commands/load.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <brigade/app.h>
#include <brigade/text.h>
#include "stages/builtin.h"
#include "tests/support/captured.h"
#include "tests/support/session.h"
#include "tests/support/temporary_folder.h"

namespace brigade {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct Taken {
  GraphFiles graph;
  bool flag = false;
  std::uint64_t number = 8;
  std::string text = "default";
  std::vector<std::string> texts;
};
Taken taken;

void declare(Options& options, Taken& arguments) {
  options.graph(arguments.graph);
  options.flag("--flag", arguments.flag, "a flag");
  options.number("-n", arguments.number, 1, 10, "a number");
  options.text("--text", arguments.text, "a text");
  options.texts("--texts", arguments.texts, "texts", "T");
}

int keep(const Taken& arguments, const StageTypes&, std::int64_t) {
  taken = arguments;
  return 7;
}

/// What a command of every kind of option is called with.
Taken take(std::vector<std::string> words) {
  words.insert(words.begin(), {"brigade", "take"});
  const Command command = make_command<Taken>("take", "help", "examples", declare, keep);
  EXPECT_EQ(parse_command_line(words, {command})({}, 0), 7);
  return taken;
}

TEST(Options, ACommandTakesFilesAndOptions) {
  const Taken all =
      take({"base.yaml", "machine.yaml", "--set", "epochs=5", "--set=vars.data=/d", "--limit", "10",
            "--flag", "-n", "3", "--text", "t", "--texts", "a", "--texts", "b"});
  EXPECT_THAT(all.graph.files, ElementsAre("base.yaml", "machine.yaml"));
  EXPECT_THAT(all.graph.sets, ElementsAre("epochs=5", "vars.data=/d"));
  EXPECT_EQ(all.graph.limit, 10u);
  EXPECT_TRUE(all.flag);
  EXPECT_EQ(all.number, 3u);
  EXPECT_EQ(all.text, "t");
  EXPECT_THAT(all.texts, ElementsAre("a", "b"));
  const Taken none = take({"t.yaml"});
  EXPECT_FALSE(none.flag);
  EXPECT_EQ(none.number, 8u);
  EXPECT_EQ(none.text, "default");
}

TEST(Options, FilesMayFollowSettings) {
  const Taken given = take({"--set", "a=1", "--set", "b=2", "train.yaml"});
  EXPECT_THAT(given.graph.files, ElementsAre("train.yaml"));
  EXPECT_THAT(given.graph.sets, ElementsAre("a=1", "b=2"));
}

TEST(Options, ASettingKeepsItsCommasAndBrackets) {
  EXPECT_THAT(take({"t.yaml", "--set", "stages.x.params.at=[1, 2]"}).graph.sets,
              ElementsAre("stages.x.params.at=[1, 2]"));
}

Captured typed(const std::vector<std::string>& words) { return captured_command(words, {}); }

std::string help(const std::vector<std::string>& words) {
  const Captured shown = typed(words);
  EXPECT_EQ(shown.code, 0);
  return shown.out;
}

TEST(CommandLine, HelpTeachesByExample) {
  EXPECT_EQ(typed({}).code, 2);
  EXPECT_THAT(typed({}).err, HasSubstr("brigade run train.yaml"));
  EXPECT_THAT(help({"--help"}), HasSubstr("brigade run train.yaml --set epochs=5"));
  EXPECT_THAT(help({"run", "--help"}), HasSubstr("brigade run train.yaml --in-process"));
  EXPECT_THAT(help({"plan", "-h"}), HasSubstr("--yaml"));
  EXPECT_THAT(help({"--version"}), HasSubstr("brigade "));
}

TEST(CommandLine, AnEmptyLimitIsNone) {
  EXPECT_THAT(typed({"run", "t.yaml", "--limit", ""}).err, HasSubstr("or 0.1, found \"\""));
}

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

int run_command(std::vector<std::string> words) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  return App(static_cast<int>(arguments.size()), arguments.data()).run_command();
}

TEST(RunCommandOfAnApp, RunsIt) {
  testing::internal::CaptureStdout();
  const int code = run_command({"brigade", "--version"});
  EXPECT_THAT(testing::internal::GetCapturedStdout(), testing::StartsWith("brigade "));
  EXPECT_EQ(code, 0);
}

TEST(RunCommandOfAnApp, AnUnknownOneIsCode2) {
  testing::internal::CaptureStderr();
  const int code = run_command({"brigade", "no_such_command"});
  EXPECT_NE(testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(code, 2);
}

}  // namespace
}  // namespace brigade
