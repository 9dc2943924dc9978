#include <brigade/app.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/clock.h"
#include "tests/support/faulty_stages.h"

namespace brigade {
namespace {

App make_app(std::vector<std::string> words, const StageTypes& types = {}) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  return App(static_cast<int>(arguments.size()), arguments.data(), types);
}

TEST(App, KnowsItsOwnStageTypesAndThoseOfBrigade) {
  const App app = make_app({"program"}, faulty_stage_types());
  EXPECT_NE(app.types().find("faulty"), nullptr);
  EXPECT_NE(app.types().find("synthetic"), nullptr);
}

TEST(App, ItsOwnStageTypesComeFirst) {
  StageTypes types;
  types.add<Faulty>(Contract<FaultyParams>("count", "Mine.").consumer());
  EXPECT_EQ(make_app({"program"}, types).types().find("count")->contract.help, "Mine.");
}

TEST(App, KnowsWhenTheProgramStarted) {
  const App app = make_app({"program"});
  EXPECT_GT(app.started_ns(), 0);
  EXPECT_LE(app.started_ns(), monotonic_ns());
}

TEST(App, OfAHostExecutesTheInstalledProgramOrTheOneThatIsNamed) {
  EXPECT_EQ(make_app({"program"}).workers(), "/proc/self/exe");
  const auto host = App::of_host();
  ASSERT_TRUE(host.ok()) << host.error().message;
  EXPECT_EQ(host->workers(), BRIGADE_BINARY_DIR "/bin/brigade");
  EXPECT_NE(host->types().find("synthetic"), nullptr);
  EXPECT_EQ(App::of_host("/bin/true")->workers(), "/bin/true");
  EXPECT_EQ(App::of_host("/nowhere").error().message,
            "cannot execute /nowhere: No such file or directory");
}

TEST(App, TheCodeOfAProgramSaysWhetherAllWasRight) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(exit_code(true), 0);
  EXPECT_EQ(exit_code(false), 1);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  testing::internal::CaptureStderr();
  EXPECT_EQ(exit_code(Error{"there is no graph"}), 1);
  EXPECT_THAT(testing::internal::GetCapturedStderr(), testing::HasSubstr("there is no graph\n"));
}

TEST(App, ARoleThatIsNoneEndsTheProgram) {
  EXPECT_EXIT(
      {
        setenv("BRIGADE_WORKER", "nonsense", 1);
        make_app({"program"});
      },
      testing::ExitedWithCode(2), "holds no valid role .*; unset it");
}

}  // namespace
}  // namespace brigade
