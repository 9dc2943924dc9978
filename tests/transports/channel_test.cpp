// What stepping and the conformance suite do not show of a channel: every claim, wait and end of a
// line is theirs (tests/transports/stepping).

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
};

TEST_P(OneToOne, AnAbortEndsItWhateverIsLeftAndForGood) {
  abort_all(line_.control);
  EXPECT_EQ(writer_.try_claim().look, Look::ended);
  EXPECT_EQ(writer_.try_claim().look, Look::ended);
  EXPECT_EQ(line_.channel(1).try_claim().look, Look::ended);
}

INSTANTIATE_TEST_SUITE_P(WithAndWithoutTaskWords, OneToOne, testing::Bool());

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

}  // namespace
}  // namespace brigade
