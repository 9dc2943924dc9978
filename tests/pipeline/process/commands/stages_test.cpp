#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipeline/process/commands/commands.h"
#include "tests/support/captured.h"
#include "tests/support/session.h"

namespace brigade {
namespace {

using testing::HasSubstr;

Captured stages(const std::string& name) {
  const StageTypes types = session_stage_types();
  return captured([&] { return stages_command({name, false, false}, types); });
}

TEST(StagesCommand, ListsAllStageTypes) {
  EXPECT_EQ(stages("").code, 0);
  EXPECT_THAT(stages("").out, HasSubstr("synthetic"));
  EXPECT_THAT(stages("").out, HasSubstr("faulty"));
}

TEST(StagesCommand, DescribesOne) { EXPECT_THAT(stages("count").out, HasSubstr("sleep_ms")); }

TEST(StagesCommand, GuessesWhatWasMeant) {
  const Captured shown = stages("cuont");
  EXPECT_EQ(shown.code, 2);
  EXPECT_EQ(shown.err,
            "brigade: error: unknown stage type \"cuont\"; did you mean \"count\"?  `brigade "
            "stages` lists all.\n");
}

TEST(StagesCommand, ExplainsTheKeysOfTheLanguage) {
  const StageTypes types = session_stage_types();
  const Captured shown = captured([&] { return stages_command({"", true, false}, types); });
  EXPECT_EQ(shown.code, 0);
  EXPECT_THAT(shown.out, HasSubstr("poison_after"));
  EXPECT_THAT(stages("poison_after").err, HasSubstr("it is a key: `brigade stages --keys`"));
}

TEST(StagesCommand, ShowsTheTypesOfAPlugin) {
  const StageTypes types = session_stage_types();
  const std::string folder = BRIGADE_BINARY_DIR "/tests/modules/";
  const auto with = [&](const std::string& file) {
    return captured([&] {
      return stages_command({"light", false, false, {folder + file}}, types);
    });
  };
  EXPECT_EQ(with("brigade_plugin.so").code, 0);
  EXPECT_THAT(with("brigade_plugin.so").out, HasSubstr("from the plugin library " + folder));
  EXPECT_EQ(with("brigade_no_symbol.so").code, 2);
  EXPECT_THAT(with("brigade_no_symbol.so").err, HasSubstr("is no plugin of Brigade"));
}

TEST(StagesCommand, WritesTheSchemaForEditors) {
  const StageTypes types = session_stage_types();
  const Captured shown = captured([&] { return stages_command({"", false, true}, types); });
  EXPECT_EQ(shown.code, 0);
  EXPECT_THAT(shown.out, HasSubstr("\"$schema\""));
}

}  // namespace
}  // namespace brigade
