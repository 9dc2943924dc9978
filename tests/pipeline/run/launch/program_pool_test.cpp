// Replicas that are the program's beside those of another worker pool; program_ends.h with them.

#include "pipeline/run/launch/program_pool.h"

#include <gtest/gtest.h>

#include "tests/support/fake_worker_pool.h"
#include "tests/support/line.h"
#include "transports/stop.h"

namespace brigade {
namespace {

/// Two stages of one replica; the second is the program.
struct ProgramPools : testing::Test {
  ProgramPools() {
    others_ = new FakeWorkerPool(1);
    auto made = ProgramPool::create(std::unique_ptr<WorkerPool>(others_), {1}, ends_, control_);
    pool_ = std::move(made).value();
  }
  /// "1 ready", ... of what has happened.
  std::string events() {
    std::string text;
    for (const WorkerEvent& event : pool_->take_events()) {
      const char* const what = std::holds_alternative<Ready>(event.what)   ? " ready "
                               : std::holds_alternative<Done>(event.what)  ? " done "
                               : std::holds_alternative<Ended>(event.what) ? " ended "
                                                                           : " ? ";
      text += std::to_string(event.replica) + what;
    }
    return text;
  }

  const SharedShape shape_ =
      support::line_shape({{1, 1, 2, {}}, {1, 1, 0, {0}, false, false, 1, 2}});
  support::LineMemory memory_{control_bytes<SystemPolicy>(shape_)};
  Control<SystemPolicy> control_ =
      create_control<SystemPolicy>(memory_.data(), shape_, WakeOrder::by_finisher);
  std::shared_ptr<ProgramEnds> ends_ = ProgramEnds::create().value();
  FakeWorkerPool* others_;
  std::unique_ptr<ProgramPool> pool_;
};

TEST_F(ProgramPools, AProgramIsReadyAtOnceAndEndsWhenItIsDone) {
  ASSERT_TRUE(pool_->start().ok());
  EXPECT_EQ(pool_->running(), 2);
  EXPECT_EQ(events(), "1 ready ");
  EXPECT_EQ(pool_->condition(1), ProcessCondition::runs);
  EXPECT_EQ(events(), "");
  ends_->done(1);
  EXPECT_EQ(events(), "1 done 1 ended ");
  EXPECT_EQ(pool_->running(), 1);
  EXPECT_EQ(pool_->condition(1), ProcessCondition::gone);
  ends_->done(1);  // a second word does no harm
  EXPECT_EQ(events(), "");
  pool_->collect();
  EXPECT_EQ(others_->collected, 1);
}

TEST_F(ProgramPools, AnEndOfAllIsSeenByTheProgram) {
  ASSERT_TRUE(pool_->start().ok());
  events();
  pool_->end_all();
  EXPECT_TRUE(others_->was_ended());
  EXPECT_TRUE(is_aborting(control_));
  EXPECT_NE(events().find("1 ended "), std::string::npos);
}

TEST_F(ProgramPools, AProgramIsNeitherStartedAgainNorSignalled) {
  ASSERT_TRUE(pool_->start().ok());
  EXPECT_FALSE(pool_->restart(1).ok());
  pool_->signal(1, SIGKILL);  // it would be this test
}

TEST_F(ProgramPools, WhatIsLeftUnreadEndsTheRunOnceNobodyReads) {
  using enum ProgramEnds::Closing;
  struct Case {
    std::vector<ProgramEnds::Closing> closed;
    std::string told;
  };
  for (const Case& one :
       {Case{{at_its_end, at_its_end}, ""}, Case{{before}, ""},
        Case{{at_its_end, before}, "drains"}, Case{{before, at_its_end}, "drains"},
        Case{{before, before_held}, "at once"}}) {
    const auto ends = ProgramEnds::create().value();
    std::string told;
    ends->listen({[](const std::string&) {},
                  [&told](bool at_once) { told += at_once ? "at once" : "drains"; },
                  {}},
                 2);
    for (const auto how : one.closed) ends->closed(how);
    EXPECT_EQ(told, one.told);
    ends->listen({}, 0);
    ends->fail("nobody listens");
  }
}

}  // namespace
}  // namespace brigade
