#include "pipeline/process/key_help.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "pipeline/config/key_table.h"
#include "pipeline/plan/text_table.h"

namespace brigade {
namespace {

using testing::HasSubstr;

TEST(KeyHelp, HasEveryKey) {
  const std::string text = key_help();
  for (const KeySpec& key : key_table())
    EXPECT_THAT(text, HasSubstr(concat("\n  ", key.name, " "))) << key_path(key);
}

TEST(KeyHelp, SaysWhatAKeyTakesItsUnitAndDefault) {
  EXPECT_THAT(key_help(), HasSubstr("threads that libraries inside one replica may use (a number "
                                    "of threads from 1 to"));
  EXPECT_THAT(key_help(), HasSubstr("when it is short (true or false; default false)"));
}

TEST(KeyHelp, SaysWhatIsNotBuilt) { EXPECT_THAT(key_help(), HasSubstr("[not built yet]")); }

TEST(KeyHelp, FitsATerminal) {
  const std::string text = key_help();
  for (const std::string_view line : split(text, '\n'))
    EXPECT_LE(text_width(std::string(line)), kTextWidth) << line;
}

}  // namespace
}  // namespace brigade
