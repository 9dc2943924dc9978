#include "pipeline/process/commands/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace brigade {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Command parse(std::vector<std::string> words) {
  words.insert(words.begin(), "brigade");
  return parse_command_line(words);
}

std::string mistake(std::vector<std::string> words) {
  const Command command = parse(std::move(words));
  const auto* shown = std::get_if<ShowText>(&command);
  EXPECT_TRUE(shown != nullptr && shown->exit_code == 2);
  return shown == nullptr ? "" : shown->text;
}

std::string help(std::vector<std::string> words) {
  const Command command = parse(std::move(words));
  const auto* shown = std::get_if<ShowText>(&command);
  EXPECT_TRUE(shown != nullptr && shown->exit_code == 0);
  return shown == nullptr ? "" : shown->text;
}

TEST(CommandLine, RunTakesFilesAndFlags) {
  const Command command =
      parse({"run", "base.yaml", "machine.yaml", "--set", "epochs=5", "--set=vars.data=/d",
             "--limit", "10", "--summary", "s.json", "--log", "l.txt", "--in-process", "--quiet"});
  const auto& run = std::get<RunArguments>(command);
  EXPECT_THAT(run.graph.files, ElementsAre("base.yaml", "machine.yaml"));
  EXPECT_THAT(run.graph.sets, ElementsAre("epochs=5", "vars.data=/d"));
  EXPECT_EQ(run.graph.limit, 10u);
  EXPECT_EQ(run.summary_file, "s.json");
  EXPECT_EQ(run.log_file, "l.txt");
  EXPECT_TRUE(run.in_process && run.quiet);
  EXPECT_FALSE(run.resume || run.overwrite);
  EXPECT_TRUE(std::get<RunArguments>(parse({"run", "t.yaml", "--overwrite"})).overwrite);
  EXPECT_EQ(std::get<ShowText>(parse({"run", "t.yaml", "--overwrite", "--resume"})).exit_code, 2);
}

TEST(CommandLine, FilesMayFollowSettings) {
  const Command command = parse({"run", "--set", "a=1", "--set", "b=2", "train.yaml"});
  const auto& run = std::get<RunArguments>(command);
  EXPECT_THAT(run.graph.files, ElementsAre("train.yaml"));
  EXPECT_THAT(run.graph.sets, ElementsAre("a=1", "b=2"));
}

TEST(CommandLine, ASettingKeepsItsCommasAndBrackets) {
  const Command command = parse({"run", "t.yaml", "--set", "stages.x.params.at=[1, 2]"});
  EXPECT_THAT(std::get<RunArguments>(command).graph.sets, ElementsAre("stages.x.params.at=[1, 2]"));
}

TEST(CommandLine, EveryCommandHasItsForm) {
  EXPECT_TRUE(std::holds_alternative<CheckArguments>(parse({"check", "t.yaml"})));
  EXPECT_TRUE(std::get<PlanArguments>(parse({"plan", "t.yaml", "--json"})).json);
  EXPECT_TRUE(std::get<PlanArguments>(parse({"plan", "--yaml", "t.yaml"})).yaml);
  EXPECT_EQ(std::get<DrawArguments>(parse({"graph", "t.yaml"})).format, "ascii");
  EXPECT_EQ(std::get<DrawArguments>(parse({"graph", "t.yaml", "--format", "svg"})).format, "svg");
  EXPECT_EQ(std::get<StagesArguments>(parse({"stages"})).name, "");
  EXPECT_EQ(std::get<StagesArguments>(parse({"stages", "count"})).name, "count");
  EXPECT_TRUE(std::get<StagesArguments>(parse({"stages", "--json-schema"})).json_schema);
  EXPECT_EQ(std::get<SampleArguments>(parse({"sample", "t.yaml", "--stage", "a"})).count, 8u);
  EXPECT_EQ(std::get<SampleArguments>(parse({"sample", "t.yaml", "--stage", "a", "-n", "3"})).count,
            3u);
  EXPECT_EQ(std::get<InitArguments>(parse({"init", "/data"})).folder, "/data");
  EXPECT_TRUE(std::holds_alternative<DoctorArguments>(parse({"doctor"})));
  EXPECT_EQ(std::get<HoldersArguments>(parse({"holders"})).pid, 0);
  EXPECT_EQ(std::get<HoldersArguments>(parse({"holders", "4711"})).pid, 4711);
  EXPECT_EQ(std::get<CompletionsArguments>(parse({"completions", "fish"})).shell, "fish");
}

TEST(CommandLine, AnUnknownCommandIsGuessed) {
  EXPECT_EQ(mistake({"rnu", "t.yaml"}),
            "brigade: error: unknown command \"rnu\"; did you mean \"run\"?  `brigade --help` "
            "lists all.\n");
  EXPECT_EQ(mistake({"frobnicate"}),
            "brigade: error: unknown command \"frobnicate\"; `brigade --help` lists all.\n");
  EXPECT_THAT(mistake({"train.yaml"}), HasSubstr("did you mean `brigade run train.yaml`?"));
}

TEST(CommandLine, AnUnknownFlagIsGuessed) {
  EXPECT_THAT(mistake({"run", "t.yaml", "--sumary", "s"}), HasSubstr("did you mean --summary?"));
  EXPECT_THAT(mistake({"run", "t.yaml", "--in_process"}), HasSubstr("did you mean --in-process?"));
}

TEST(CommandLine, WhatIsMissingOrWrongIsSaid) {
  EXPECT_THAT(mistake({"run"}), HasSubstr("FILE is required"));
  EXPECT_THAT(mistake({"sample", "t.yaml"}), HasSubstr("--stage is required"));
  EXPECT_THAT(mistake({"completions", "csh"}), HasSubstr("csh"));
  EXPECT_THAT(mistake({"run", "t.yaml", "--limit", "many"}), HasSubstr("--limit"));
  EXPECT_THAT(mistake({"run", "t.yaml", "--limit", "-1"}), HasSubstr("--limit"));
  EXPECT_THAT(mistake({"graph", "t.yaml", "--format", "png"}), HasSubstr("png"));
  EXPECT_THAT(mistake({"plan", "t.yaml", "--json", "--yaml"}), HasSubstr("--json"));
  EXPECT_THAT(mistake({}), HasSubstr("brigade run train.yaml"));
}

TEST(CommandLine, HelpTeachesByExample) {
  EXPECT_THAT(help({"--help"}), HasSubstr("brigade run train.yaml --set epochs=5"));
  EXPECT_THAT(help({"run", "--help"}), HasSubstr("brigade run train.yaml --in-process"));
  EXPECT_THAT(help({"plan", "-h"}), HasSubstr("--yaml"));
  EXPECT_THAT(help({"--version"}), HasSubstr("brigade "));
}

}  // namespace
}  // namespace brigade
