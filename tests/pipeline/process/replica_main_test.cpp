#include "pipeline/process/replica_main.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "tests/support/keeping_sink.h"
#include "tests/support/session.h"

namespace brigade {
namespace {

using testing::HasSubstr;

struct ReplicaMain : testing::Test {
  KeepingSink sink;

  std::string failure(const std::function<Result<void>()>& work) {
    EXPECT_FALSE(replica_main(3, sink, work));
    if (sink.reports.size() != 1) return concat(sink.reports.size(), " reports");
    EXPECT_EQ(sink.reports[0].replica, 3);
    return std::get<Failed>(sink.reports[0].what).message;
  }
};

TEST_F(ReplicaMain, WorkThatReturnsSaysNothingMore) {
  EXPECT_TRUE(replica_main(3, sink, [] { return Result<void>(); }));
  EXPECT_TRUE(sink.reports.empty());
}

TEST_F(ReplicaMain, AnErrorIsReported) {
  EXPECT_EQ(failure([]() -> Result<void> { return Error{"no more disk"}; }), "no more disk");
}

TEST_F(ReplicaMain, AnExceptionIsReportedAsOneLine) {
  EXPECT_EQ(failure([]() -> Result<void> { throw std::runtime_error("no more disk\nframe 1"); }),
            "no more disk");
}

TEST_F(ReplicaMain, AnythingElseThatIsThrownIsReportedToo) {
  EXPECT_EQ(failure([]() -> Result<void> { throw 17; }), "an exception that is no std::exception");
}

TEST(ReplicaMainOfProcesses, AConstructorThatThrowsAnythingEndsTheRunWithItsName) {
  Session session;
  const RunOutcome outcome = session.run(line_yaml("consumer: throws_when_made"));
  EXPECT_THAT(outcome.failure, HasSubstr("stage \"end\" replica 0 (pid "));
  EXPECT_THAT(outcome.failure, HasSubstr("an exception that is no std::exception"));
}

}  // namespace
}  // namespace brigade
