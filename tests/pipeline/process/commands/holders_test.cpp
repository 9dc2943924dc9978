#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "pipeline/plan/plan_json.h"
#include "pipeline/process/commands/commands.h"
#include "pipeline/process/segments.h"
#include "tests/support/captured.h"
#include "tests/support/small_plan.h"

namespace brigade {
namespace {

using testing::HasSubstr;

TEST(HoldersCommand, ShowsARunningGraph) {
  const Plan plan = small_plan(2);
  const auto segments = Segments::create(plan, plan_to_json(plan, -1)).value();
  const Captured ran = captured([] { return holders_command({getpid()}); });
  EXPECT_EQ(ran.code, 0);
  for (const char* word : {"numbers.0", "sink.1", "has not begun", "an unknown number"}) {
    EXPECT_THAT(ran.out, HasSubstr(word));
  }
}

TEST(HoldersCommand, SaysWhereNoneRuns) {
  const Captured ran = captured([] { return holders_command({1 << 30}); });  // no such process
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.err, HasSubstr("runs no graph; `brigade holders` shows all that run"));
}

}  // namespace
}  // namespace brigade
