#include "pipeline/process/completions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace brigade {
namespace {

using testing::HasSubstr;

std::string script(const char* shell) {
  const auto text = completion_script(
      shell, {{"run", "run a graph", {"--set", "--quiet"}}, {"stages", "what's there", {}}},
      {"count", "synthetic"});
  EXPECT_TRUE(text);
  return text.value_or("");
}

TEST(Completions, OfBashNameCommandsFlagsAndStageTypes) {
  EXPECT_THAT(script("bash"), HasSubstr("words=\"run stages\""));
  EXPECT_THAT(script("bash"), HasSubstr("run) flags=\"--set --quiet\" words=\"\" ;;"));
  EXPECT_THAT(script("bash"), HasSubstr("stages) flags=\"\" words=\"count synthetic\" ;;"));
}

TEST(Completions, OfZshRunThoseOfBash) {
  EXPECT_THAT(script("zsh"), HasSubstr("bashcompinit"));
  EXPECT_THAT(script("zsh"), HasSubstr("complete -o default -F _brigade brigade"));
}

TEST(Completions, OfFishHaveHelp) {
  EXPECT_THAT(script("fish"), HasSubstr("-a stages -d 'what\\'s there'"));
  EXPECT_THAT(script("fish"), HasSubstr("-l quiet"));
  EXPECT_THAT(script("fish"), HasSubstr("-a 'count synthetic'"));
}

TEST(Completions, OtherShellsHaveNone) { EXPECT_FALSE(completion_script("csh", {}, {})); }

}  // namespace
}  // namespace brigade
