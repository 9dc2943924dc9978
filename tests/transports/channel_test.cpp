// What stepping and the conformance suite do not show of how replicas get their work. Every claim,
// wait and end of a line is theirs, and every repair (tests/transports/stepping).

#include "transports/channel.h"
#include "transports/joined_queues.h"
#include "transports/repair.h"

#include <gtest/gtest.h>

#include "tests/support/line.h"
#include "transports/stop.h"

namespace brigade {
namespace {

using support::line_shape;
using support::LineControl;

void expect_claimed(const Attempt<SystemPolicy>& found, std::uint64_t task) {
  ASSERT_EQ(found.look, Look::claimed);
  EXPECT_EQ(found.task, task);
}

class OneToOne : public testing::TestWithParam<bool> {};

TEST_P(OneToOne, AnAbortEndsItWhateverIsLeftAndForGood) {
  LineControl line(line_shape({{1, 1, 2, {}, GetParam()}, {1, 1, 0, {0}, GetParam()}}));
  set_end(line.control, 0, 5, 5, 1);
  Channel<SystemPolicy> writer(line.control, 0, 0, 0);
  abort_all(line.control);
  EXPECT_EQ(writer.try_claim().look, Look::ended);
  EXPECT_EQ(writer.try_claim().look, Look::ended);
  EXPECT_EQ(Channel<SystemPolicy>(line.control, 1, 0, 0).try_claim().look, Look::ended);
}

INSTANTIATE_TEST_SUITE_P(WithAndWithoutTaskWords, OneToOne, testing::Bool());

TEST(Interleaved, AnAbortEndsTheTurnsOfEpochs) {
  SharedShape shape = line_shape({{1, 1, 2, {}, true}, {1, 1, 2, {}, true}, {1, 1, 0, {0}, true}});
  support::join_two(shape, Interleave::epochs);
  LineControl line(shape);
  for (const int source : {0, 1}) set_end(line.control, IndexSpaceNumber(source), 4, 4, 3);
  JoinedQueues<SystemPolicy> joined(line.control, 2, 0);
  abort_all(line.control);
  EXPECT_EQ(joined.try_claim().look, Look::ended);
}

TEST(Replicas, OneThatFellFarBehindCatchesUp) {
  LineControl line(line_shape({{2, 1, 2, {}}, {1, 1, 0, {0}, true}}));
  set_end(line.control, 0, 1000, 1000, 1);
  Channel<SystemPolicy> writer(line.control, 0, 0, 0);
  Channel<SystemPolicy> sleeper(line.control, 0, 0, 1);
  Channel<SystemPolicy> reader(line.control, 1, 0, 0);
  expect_claimed(sleeper.try_claim(), 0);
  sleeper.finish(0);
  for (std::uint64_t task = 1; task < 900; ++task) {
    expect_claimed(writer.try_claim(), task);
    writer.finish(task);
    reader.finish(reader.try_claim().task);
  }
  expect_claimed(sleeper.try_claim(), 900);
}

TEST(OwnEnd, ASourceStopsAtTheSizeItKnowsBeforeTheIndexSpaceDoes) {
  LineControl line(line_shape({{1, 1, 4, {}, true}, {1, 1, 0, {0}, true}}));
  Channel<SystemPolicy> source(line.control, 0, 0, 0);
  source.set_own_end(1);
  EXPECT_EQ(source.end(), kNever);
  expect_claimed(source.try_claim(), 0);
  source.finish(0);
  EXPECT_EQ(source.try_claim().look, Look::ended);
}

TEST(Repair, SaysWhatItDidAndForgetsTheInFlightSample) {
  LineControl line(line_shape({{2, 1, 4, {}}, {1, 1, 0, {0}}}));
  set_end(line.control, 0, 100, 100, 1);
  Channel<SystemPolicy> victim(line.control, 0, 0, 0);
  Channel<SystemPolicy> witness(line.control, 0, 0, 1);
  expect_claimed(victim.try_claim(), 0);
  expect_claimed(witness.try_claim(), 1);
  expect_claimed(victim.try_claim(), 2);
  TaskTable<SystemPolicy>& table = line.control.stages[0].queues[0].table;
  table.word(0).store(table.done(0, 0));  // died between DONE and advance()
  line.control.replicas[0].in_flight.value = 17;
  const auto done = repair(line.control, 0, 0);
  EXPECT_EQ(done.reopened, 1u);
  EXPECT_EQ(done.advanced_slots, 1u);
  EXPECT_EQ(line.control.replicas[0].in_flight.value, kNever);
}

// A dead stream may have stored its end and rung nobody but its neighbours.
TEST(Repair, RingsStagesFarAway) {
  LineControl line(
      line_shape({{1, 1, 4, {}}, {1, 1, 4, {0}}, {1, 1, 4, {1}}, {1, 1, 0, {2}}, {1, 1, 0, {0}}}));
  repair(line.control, 1, 0);
  for (int r = 0; r < 5; ++r) EXPECT_EQ(line.control.doorbells[r].rings, 1u) << r;
  RepairRules silent;
  silent.ring = false;
  repair(line.control, 1, 0, {}, silent);
  for (int r = 0; r < 5; ++r) EXPECT_EQ(line.control.doorbells[r].rings, 1u) << r;
}

}  // namespace
}  // namespace brigade
