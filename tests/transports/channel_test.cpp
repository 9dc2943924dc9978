#include "transports/channel.h"

#include <gtest/gtest.h>

#include "tests/support/line.h"
#include "transports/stop.h"

namespace brigade {
namespace {

using support::StageSpec;
using Shared = Control<SystemPolicy>;

/// A line in one thread: whoever is named takes the next step.
class Line {
 public:
  explicit Line(const ByStage<StageSpec>& specs, std::uint64_t end = kNever)
      : shape_(support::line_shape(specs)), memory_(control_bytes<SystemPolicy>(shape_)) {
    control = create_control<SystemPolicy>(memory_.data(), shape_);
    if (end != kNever) set_end(control, 0, end, end, 1);
  }
  Channel<SystemPolicy> channel(StageNumber stage, int replica = 0) {
    return {control, stage, 0, replica};
  }
  Watermark<SystemPolicy>* watermark(StageNumber stage) {
    return control.stages[stage].queues[0].watermark;
  }
  std::uint64_t level(StageNumber stage) { return watermark(stage)->level.value; }
  Doorbell<SystemPolicy>& doorbell(int replica) { return control.doorbells[replica]; }

  Shared control;

 private:
  SharedShape shape_;
  support::LineMemory memory_;
};

void expect_claimed(const Attempt<SystemPolicy>& found, std::uint64_t task) {
  ASSERT_EQ(found.look, Look::claimed);
  EXPECT_EQ(found.task, task);
}

void expect_blocked(const Attempt<SystemPolicy>& found, const Watermark<SystemPolicy>* on,
                    Cause cause) {
  ASSERT_EQ(found.look, Look::blocked);
  EXPECT_EQ(found.blocked_on, on);
  EXPECT_EQ(found.cause, cause);
}

class OneToOne : public testing::TestWithParam<bool> {
 protected:
  const bool in_order_ = GetParam();
  Line line_{{{1, 1, 2, {}, in_order_}, {1, 1, 0, {0}, in_order_}}, 5};
  Channel<SystemPolicy> writer_ = line_.channel(0);
  Channel<SystemPolicy> reader_ = line_.channel(1);
};

TEST_P(OneToOne, ASlotIsReadableWhenItsTaskIsFinished) {
  expect_blocked(reader_.try_claim(), line_.watermark(0), Cause::input);
  expect_claimed(writer_.try_claim(), 0);
  expect_blocked(reader_.try_claim(), line_.watermark(0), Cause::input);
  writer_.finish(0);
  EXPECT_EQ(line_.level(0), 1u);
  expect_claimed(reader_.try_claim(), 0);
}

TEST_P(OneToOne, TheWriterWaitsForMemoryUntilTheReaderHasFinished) {
  for (std::uint64_t task : {0, 1}) {
    expect_claimed(writer_.try_claim(), task);
    writer_.finish(task);
  }
  expect_blocked(writer_.try_claim(), line_.watermark(1), Cause::memory);
  expect_claimed(reader_.try_claim(), 0);
  expect_blocked(writer_.try_claim(), line_.watermark(1), Cause::memory);
  reader_.finish(0);
  expect_claimed(writer_.try_claim(), 2);
}

TEST_P(OneToOne, EndsWhenTheWatermarkReachesTheEnd) {
  for (std::uint64_t task = 0; task < 5; ++task) {
    expect_claimed(writer_.try_claim(), task);
    writer_.finish(task);
    expect_claimed(reader_.try_claim(), task);
    reader_.finish(task);
  }
  EXPECT_EQ(writer_.try_claim().look, Look::ended);
  EXPECT_EQ(reader_.try_claim().look, Look::ended);
  EXPECT_EQ(line_.level(1), 5u);
}

TEST_P(OneToOne, ANewChannelGoesOnWhereTheWatermarkIs) {
  expect_claimed(writer_.try_claim(), 0);
  writer_.finish(0);
  auto restarted = line_.channel(0);
  expect_claimed(restarted.try_claim(), 1);
}

TEST_P(OneToOne, AnAbortEndsItWhateverIsLeftAndForGood) {
  abort_all(line_.control);
  EXPECT_EQ(writer_.try_claim().look, Look::ended);
  EXPECT_EQ(writer_.try_claim().look, Look::ended);
  EXPECT_EQ(line_.channel(1).try_claim().look, Look::ended);
}

INSTANTIATE_TEST_SUITE_P(WithAndWithoutTaskWords, OneToOne, testing::Bool());

TEST(Replicas, ClaimInAscendingOrderAndPublishInOrder) {
  Line line({{2, 1, 4, {}}, {1, 1, 0, {0}}}, 8);
  auto first = line.channel(0, 0);
  auto second = line.channel(0, 1);
  expect_claimed(first.try_claim(), 0);
  expect_claimed(second.try_claim(), 1);
  second.finish(1);
  EXPECT_EQ(line.level(0), 0u);  // 0 is not done
  expect_claimed(second.try_claim(), 2);
  first.finish(0);
  EXPECT_EQ(line.level(0), 2u);
}

TEST(Replicas, OneMayHoldSeveralLeasesAndFinishThemInAnyOrder) {
  Line line({{1, 1, 4, {}}, {1, 1, 0, {0}}}, 8);
  auto channel = line.channel(0);
  for (std::uint64_t task : {0, 1, 2}) expect_claimed(channel.try_claim(), task);
  channel.finish(2);
  channel.finish(1);
  EXPECT_EQ(line.level(0), 0u);
  channel.finish(0);
  EXPECT_EQ(line.level(0), 3u);
}

TEST(Replicas, OneThatFellFarBehindCatchesUp) {
  Line line({{2, 1, 2, {}}, {1, 1, 0, {0}, true}}, 1000);
  auto sleeper = line.channel(0, 1);
  auto writer = line.channel(0, 0);
  auto reader = line.channel(1);
  expect_claimed(sleeper.try_claim(), 0);
  sleeper.finish(0);
  for (std::uint64_t task = 1; task < 900; ++task) {
    if (task > 1) {
      expect_claimed(reader.try_claim(), task - 2);
      reader.finish(task - 2);
    }
    expect_claimed(writer.try_claim(), task);
    writer.finish(task);
  }
  expect_claimed(reader.try_claim(), 898);
  reader.finish(898);
  expect_claimed(sleeper.try_claim(), 900);
}

TEST(Replicas, WaitForTheEndWhileAnotherHasTheLastTask) {
  Line line({{2, 1, 4, {}}, {1, 1, 0, {0}}}, 2);
  auto first = line.channel(0, 0);
  auto second = line.channel(0, 1);
  expect_claimed(first.try_claim(), 0);
  expect_claimed(second.try_claim(), 1);
  second.finish(1);
  expect_blocked(second.try_claim(), line.watermark(0), Cause::end);  // first may die with task 0
  first.finish(0);
  EXPECT_EQ(second.try_claim().look, Look::ended);
}

TEST(FixedTurns, AReplicaTakesItsOwnTasksOnly) {
  Line line({{1, 1, 6, {}, true}, {3, 1, 0, {0}, false, true}}, 6);
  auto writer = line.channel(0);
  for (std::uint64_t task = 0; task < 6; ++task) {
    expect_claimed(writer.try_claim(), task);
    writer.finish(task);
  }
  auto second = line.channel(1, 1);
  expect_claimed(second.try_claim(), 1);
  second.finish(1);
  expect_claimed(second.try_claim(), 4);
  auto first = line.channel(1, 0);
  expect_claimed(first.try_claim(), 0);
  first.finish(0);
  auto third = line.channel(1, 2);  // a restart looks from the watermark on
  expect_claimed(third.try_claim(), 2);
}

TEST(TaskSizes, AReaderWaitsForItsWholeBatch) {
  Line line({{1, 2, 8, {}, true}, {1, 4, 0, {0}, true}}, 8);
  auto writer = line.channel(0);
  auto reader = line.channel(1);
  expect_claimed(writer.try_claim(), 0);
  writer.finish(0);
  expect_blocked(reader.try_claim(), line.watermark(0), Cause::input);
  expect_claimed(writer.try_claim(), 1);
  writer.finish(1);
  expect_claimed(reader.try_claim(), 0);
}

TEST(Broadcast, TheSlowestReaderHoldsTheRing) {
  Line line({{1, 1, 2, {}, true}, {1, 1, 0, {0}, true}, {1, 1, 0, {0}, true}}, 8);
  auto writer = line.channel(0);
  auto fast = line.channel(1);
  auto slow = line.channel(2);
  for (std::uint64_t task : {0, 1}) {
    expect_claimed(writer.try_claim(), task);
    writer.finish(task);
    expect_claimed(fast.try_claim(), task);
    fast.finish(task);
  }
  expect_blocked(writer.try_claim(), line.watermark(2), Cause::memory);
  expect_claimed(slow.try_claim(), 0);
  slow.finish(0);
  expect_claimed(writer.try_claim(), 2);
}

TEST(Zip, ATaskNeedsItsSlotsInEveryInput) {
  Line line({{1, 1, 2, {}, true}, {1, 1, 2, {}, true}, {1, 1, 0, {0, 1}, true}}, 8);
  auto left = line.channel(0);
  auto right = line.channel(1);
  auto reader = line.channel(2);
  expect_claimed(left.try_claim(), 0);
  left.finish(0);
  expect_blocked(reader.try_claim(), line.watermark(1), Cause::input);
  expect_claimed(right.try_claim(), 0);
  right.finish(0);
  expect_claimed(reader.try_claim(), 0);
}

TEST(OwnEnd, ASourceStopsAtTheSizeItKnowsBeforeTheIndexSpaceDoes) {
  Line line({{1, 1, 4, {}, true}, {1, 1, 0, {0}, true}});
  auto source = line.channel(0);
  source.set_own_end(1);
  EXPECT_EQ(source.end(), kNever);
  expect_claimed(source.try_claim(), 0);
  source.finish(0);
  EXPECT_EQ(source.try_claim().look, Look::ended);
}

TEST(Finish, CountsSlotsThatAreNotFullBeforeTheCommit) {
  Line line({{1, 4, 8, {}, true}, {1, 4, 0, {0}, true}}, 16);
  auto writer = line.channel(0);
  expect_claimed(writer.try_claim(), 0);
  writer.finish(0, {1, 2, 0});
  expect_claimed(writer.try_claim(), 1);
  writer.finish(1);  // all FULL: no new entry
  auto& tally = line.control.stages[0].queues[0].tallies[0];
  EXPECT_EQ(tally.entries[tally.newest()].sequence, 1u);
  EXPECT_EQ(tally.entries[tally.newest()].counts().pads, 1u);

  auto restarted = line.channel(0);  // goes on counting
  auto reader = line.channel(1);
  expect_claimed(reader.try_claim(), 0);
  reader.finish(0);
  expect_claimed(restarted.try_claim(), 2);
  restarted.finish(2, {0, 1, 0});
  EXPECT_EQ(tally.entries[tally.newest()].sequence, 2u);
  EXPECT_EQ(tally.entries[tally.newest()].counts().empty_slots, 3u);
}

TEST(Resume, AWatermarkThatStartsInTheMiddleIsWhereClaimsStart) {
  Line line({{2, 2, 8, {}}, {1, 4, 0, {0}}}, 1000);
  line.watermark(0)->level.value = 600;
  line.watermark(1)->level.value = 600;
  auto writer = line.channel(0, 1);
  auto reader = line.channel(1);
  for (std::uint64_t task : {300, 301, 302, 303}) {
    expect_claimed(writer.try_claim(), task);
    writer.finish(task);
  }
  expect_blocked(writer.try_claim(), line.watermark(1), Cause::memory);
  expect_claimed(reader.try_claim(), 150);
  reader.finish(150);
  EXPECT_EQ(line.level(1), 604u);
}

// Two slots for each sample: a ring of six slots has three of the writer's tasks and two of the
// reader's.
TEST(FanOut, ASlotIsReadableWhenTheSampleItIsMadeOfIsDone) {
  Line line({{1, 1, 8, {}, true}, {1, 1, 6, {0}, true, false, 2}, {1, 3, 0, {1}, true}}, 6);
  Channel<SystemPolicy> source = line.channel(0);
  Channel<SystemPolicy> writer = line.channel(1);
  Channel<SystemPolicy> reader = line.channel(2);
  for (std::uint64_t task = 0; task < 6; ++task) source.finish(source.try_claim().task);
  expect_claimed(writer.try_claim(), 0);
  writer.finish(0);
  expect_blocked(reader.try_claim(), line.watermark(1), Cause::input);  // two slots of three
  expect_claimed(writer.try_claim(), 1);
  writer.finish(1);
  expect_claimed(reader.try_claim(), 0);
}

TEST(FanOut, TheWriterNeedsRoomForAllSlotsOfItsTask) {
  Line line({{1, 1, 8, {}, true}, {1, 1, 6, {0}, true, false, 2}, {1, 3, 0, {1}, true}}, 6);
  Channel<SystemPolicy> source = line.channel(0);
  Channel<SystemPolicy> writer = line.channel(1);
  Channel<SystemPolicy> reader = line.channel(2);
  for (std::uint64_t task = 0; task < 6; ++task) source.finish(source.try_claim().task);
  for (std::uint64_t task = 0; task < 3; ++task) writer.finish(writer.try_claim().task);
  expect_blocked(writer.try_claim(), line.watermark(2), Cause::memory);
  reader.finish(reader.try_claim().task);  // frees three slots, of which it needs two
  expect_claimed(writer.try_claim(), 3);
  writer.finish(3);
  expect_blocked(writer.try_claim(), line.watermark(2), Cause::memory);
}

// --- what a sleeper waits for, and who rings it --------------------------------------------------

/// Replica `global` of the line as it sleeps after `found`.
class Sleeper {
 public:
  Sleeper(Line& line, int global, const Attempt<SystemPolicy>& found)
      : doorbell_(line.doorbell(global)) {
    EXPECT_EQ(found.look, Look::blocked);
    before_ = doorbell_.rings;
    doorbell_.until = found.until;
    set_waiter(found.blocked_on->waiters, global);
  }
  bool is_rung() const { return doorbell_.rings != before_; }

 private:
  Doorbell<SystemPolicy>& doorbell_;
  std::uint32_t before_ = 0;
};

TEST(Sleepers, ABatchIsWaitedForUntilItIsThere) {
  Line line({{1, 2, 12, {}, true}, {1, 6, 0, {0}, true}}, 12);
  auto writer = line.channel(0);
  auto reader = line.channel(1);
  const Sleeper sleeper(line, 1, reader.try_claim());
  for (std::uint64_t task : {0, 1, 2}) {
    EXPECT_FALSE(sleeper.is_rung()) << task;
    writer.finish(task);
  }
  EXPECT_TRUE(sleeper.is_rung());
}

TEST(Sleepers, RoomIsWaitedForUntilItIsThere) {
  Line line({{1, 4, 8, {}, true}, {1, 1, 0, {0}, true}}, 12);
  auto writer = line.channel(0);
  auto reader = line.channel(1);
  for (int i = 0; i < 2; ++i) writer.finish(writer.try_claim().task);
  const Sleeper sleeper(line, 0, writer.try_claim());
  for (std::uint64_t task : {0, 1, 2, 3}) {
    EXPECT_FALSE(sleeper.is_rung()) << task;
    reader.finish(task);
  }
  EXPECT_TRUE(sleeper.is_rung());
}

TEST(Sleepers, ThroughAFanOutTheyWaitForTheSampleThatBringsTheirLastSlot) {
  Line line({{1, 1, 8, {}, true}, {1, 1, 6, {0}, true, false, 2}, {1, 3, 0, {1}, true}}, 6);
  auto source = line.channel(0);
  auto writer = line.channel(1);
  auto reader = line.channel(2);
  for (std::uint64_t task : {0, 1}) source.finish(task);
  const Sleeper sleeper(line, 2, reader.try_claim());
  writer.finish(0);
  EXPECT_FALSE(sleeper.is_rung());  // two slots of three
  writer.finish(1);
  EXPECT_TRUE(sleeper.is_rung());
}

TEST(Sleepers, TheEndIsWaitedForUntilTheLastTaskIsDone) {
  Line line({{2, 1, 4, {}}, {1, 1, 0, {0}, true}}, 2);
  auto one = line.channel(0, 0);
  auto other = line.channel(0, 1);
  expect_claimed(one.try_claim(), 0);
  expect_claimed(other.try_claim(), 1);
  other.finish(1);  // the watermark does not move
  const Sleeper sleeper(line, 1, other.try_claim());
  EXPECT_FALSE(sleeper.is_rung());
  one.finish(0);
  EXPECT_TRUE(sleeper.is_rung());
}

}  // namespace
}  // namespace brigade
