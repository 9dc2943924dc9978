#include "pipeline/api/start_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include <brigade/text.h>
#include "tests/support/session.h"
#include "tests/support/temporary_folder.h"

namespace brigade {
namespace {

using testing::Contains;
using testing::HasSubstr;

struct StartingRuns : testing::Test {
  TemporaryFolder folder;
  const std::string file = folder.path() / "line.ckpt";
  Session session;

  StartedRun start(Past past, const std::string& more = "") {
    const std::string path = folder.write(
        "graph.yaml",
        concat("checkpoint: {file: ", file, "}\n", more,
               "stages:\n  numbers: {producer: synthetic, buffers: 1, params: {count: 100}}\n",
               "  end: {consumer: count, from: numbers}\n"));
    return start_run(plan_files({{path}, {}, {}}, session.types), session.types, past,
                     session.lines, session.options);
  }
};

TEST_F(StartingRuns, ARunHoldsItsCheckpointAndTheNextGoesOnFromIt) {
  {
    StartedRun first = start(Past::refuse);
    ASSERT_NE(first.session, nullptr) << first.failure;
    EXPECT_TRUE(first.lock.has_value());
    EXPECT_THAT(session.lines.lines, Contains(HasSubstr("warning: stage \"numbers\": buffers: 1")));
    EXPECT_EQ(first.session->wait().failure, "");
  }
  StartedRun again = start(Past::resume, "epochs: 2\n");
  ASSERT_NE(again.session, nullptr) << again.failure;
  EXPECT_THAT(session.lines.lines, Contains(HasSubstr("resumes from")));
  EXPECT_EQ(again.session->wait().summary.figures.samples_expected, 100u);
}

TEST_F(StartingRuns, ARunThatIsWrongToAskForIsRefused) {
  const StartedRun first = start(Past::refuse);
  const StartedRun second = start(Past::overwrite);
  EXPECT_EQ(second.session, nullptr);
  EXPECT_TRUE(second.refused);
  EXPECT_THAT(second.failure, HasSubstr("another run is writing the checkpoint"));
}

}  // namespace
}  // namespace brigade
