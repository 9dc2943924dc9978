#include <brigade/app.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace brigade {
namespace {

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
