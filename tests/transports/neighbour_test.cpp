#include "transports/neighbour.h"

#include <gtest/gtest.h>

#include <memory>

namespace brigade {
namespace {

class FellowSleepersTest : public testing::Test {
 protected:
  using P = SystemPolicy;

  FellowSleepersTest() {
    shape_.stages.resize(1);
    shape_.stages[0].replicas = shape_.replicas = 3;
    shape_.stages[0].queues.resize(1);
    fellows_ = {{doorbells_.get(), shape_, WakeOrder::by_finisher},
                shape_.stages[0],
                0,
                own_,
                {{&input_, 1, 0, 0}},
                {{&reader_, 1, 0, 0}}};
  }
  Attempt<P> blocked_on(Watermark<P>& watermark) {
    return {Look::blocked, 0, &watermark, Cause::input, 1};
  }
  std::uint32_t rings() {
    return doorbells_[0].rings.load() + doorbells_[1].rings.load() + doorbells_[2].rings.load();
  }

  std::unique_ptr<Doorbell<P>[]> doorbells_ { new Doorbell<P>[ 3 ] };
  Watermark<P> own_, input_, reader_;
  SharedShape shape_;
  FellowSleepers<P> fellows_;
};

TEST_F(FellowSleepersTest, OneOfThemIsRungWhereTheNextTaskIsThere) {
  set_waiter(input_.waiters, 1);
  set_waiter(reader_.waiters, 2);
  EXPECT_FALSE(fellows_.wait_for_me());
  fellows_.held_up(blocked_on(input_));
  EXPECT_TRUE(fellows_.wait_for_me());
  fellows_.hand_on([] { return Attempt<P>{Look::claimed}; });
  EXPECT_FALSE(fellows_.wait_for_me());
  EXPECT_EQ(rings(), 1u);
}

TEST_F(FellowSleepersTest, NobodyIsRungWhereOneSleepsOnWhatHoldsUpTheNextTask) {
  set_waiter(input_.waiters, 1);
  set_waiter(reader_.waiters, 2);
  fellows_.hand_on([this] { return fellows_.held_up(blocked_on(input_)); });
  EXPECT_FALSE(fellows_.wait_for_me());  // it has the task before
  EXPECT_EQ(rings(), 0u);
}

TEST_F(FellowSleepersTest, OneIsRungWhereAllSleepOnSomethingElse) {
  set_waiter(reader_.waiters, 2);
  fellows_.hand_on([this] { return blocked_on(input_); });
  EXPECT_EQ(doorbells_[2].rings.load(), 1u);
}

TEST_F(FellowSleepersTest, ItsOwnBitsAreClearedBeforeItLooks) {
  set_waiter(own_.waiters, 0);
  set_waiter(input_.waiters, 0);
  set_waiter(input_.waiters, 1);
  fellows_.hand_on([this] {
    EXPECT_FALSE(is_waiter(own_.waiters, 0) || is_waiter(input_.waiters, 0));
    return Attempt<P>{Look::claimed};
  });
  EXPECT_EQ(doorbells_[0].rings.load(), 0u);
  EXPECT_EQ(doorbells_[1].rings.load(), 1u);
}

TEST_F(FellowSleepersTest, AtTheEndOneIsRungByWhoHasWaited) {
  set_waiter(own_.waiters, 2);
  EXPECT_EQ(fellows_.ended().look, Look::ended);
  EXPECT_EQ(rings(), 0u);
  fellows_.held_up(blocked_on(own_));
  EXPECT_EQ(fellows_.ended().look, Look::ended);
  EXPECT_EQ(rings(), 1u);
}

TEST_F(FellowSleepersTest, WhoSharesNoTasksOwesNothing) {
  FellowSleepers<P> alone;
  alone.held_up(blocked_on(own_));
  EXPECT_FALSE(alone.wait_for_me());
}

}  // namespace
}  // namespace brigade
