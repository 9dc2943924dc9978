#include "transports/free_lanes.h"

#include <gtest/gtest.h>

#include "tests/support/line.h"
#include "transports/repair.h"
#include "transports/stop.h"

namespace brigade {
namespace {

/// Two sources of 8 samples, domains 0 and 1 -> a stage with free numbering, domain 2, whose output
/// lane is lane 0 -> sink.
class Lanes : public testing::Test {
 protected:
  static GraphShape shape() {
    GraphShape shape = support::line_shape(
        {{1, 1, 8, {}, true}, {1, 1, 8, {}, true}, {1, 1, 4, {}, true}, {1, 1, 0, {2}, true}});
    shape.domains = 3;
    shape.stages[1].lanes[0].domain = 1;
    StageShape& free = shape.stages[2];
    free.source = false;
    free.journal_ports = 2;
    free.lanes[0].domain = 2;
    for (int port : {0, 1}) {
      LaneShape lane = free.lanes[0];
      lane.domain = port;
      lane.inputs = {port};
      free.lanes.push_back(lane);
    }
    shape.stages[3].lanes[0].domain = 2;
    shape.epoch_ends = {0, 0, 1};
    return shape;
  }
  Lanes() {
    set_end(control_, 0, 8, 8, 1);
    set_end(control_, 1, 8, 8, 1);
  }
  void produce(int source, int samples) {
    Channel<SystemPolicy> channel(control_, source, 0, 0);
    for (; samples > 0; --samples) channel.finish(channel.try_claim().task);
  }
  std::uint64_t low(int lane) { return control_.stages[2].lanes[lane].mark->low.value; }
  /// The next input, with `outputs` outputs.
  void pass(FreeLanes<SystemPolicy>& lanes, int outputs) {
    const auto input = lanes.try_input();
    ASSERT_EQ(input.look, Look::claimed);
    std::uint64_t there = lanes.output().low() - lanes.begin();
    for (int i = static_cast<int>(there); i < outputs; ++i) {
      const auto output = lanes.try_output();
      ASSERT_EQ(output.look, Look::claimed);
      lanes.publish(output.task, {});
    }
    lanes.consume(input.task, {});
  }

  const GraphShape shape_ = shape();
  support::LineMemory memory_{control_bytes<SystemPolicy>(shape_)};
  Control<SystemPolicy> control_ = create_control<SystemPolicy>(memory_.data(), shape_);
};

TEST_F(Lanes, TakeWhicheverInputIsThereInTurn) {
  FreeLanes<SystemPolicy> lanes(control_, 2);
  EXPECT_EQ(lanes.try_input().look, Look::blocked);
  produce(1, 2);
  pass(lanes, 1);
  EXPECT_EQ(lanes.port(), 1);
  produce(0, 1);
  pass(lanes, 1);
  EXPECT_EQ(lanes.port(), 0);
  pass(lanes, 1);
  EXPECT_EQ(lanes.port(), 1);
  EXPECT_EQ(low(0), 3u);
  EXPECT_EQ(low(1), 1u);
  EXPECT_EQ(low(2), 2u);
}

TEST_F(Lanes, AnInputMayHaveNoOutputOrSeveral) {
  FreeLanes<SystemPolicy> lanes(control_, 2);
  produce(0, 2);
  pass(lanes, 0);
  EXPECT_EQ(low(0), 0u);
  pass(lanes, 3);
  EXPECT_EQ(low(0), 3u);
}

TEST_F(Lanes, AnOutputWaitsForRoom) {
  FreeLanes<SystemPolicy> lanes(control_, 2);
  produce(0, 1);
  pass(lanes, 4);
  EXPECT_EQ(lanes.try_output().cause, Cause::memory);
  Channel<SystemPolicy> sink(control_, 3, 0, 0);
  sink.finish(sink.try_claim().task);
  EXPECT_EQ(lanes.try_output().look, Look::claimed);
}

TEST_F(Lanes, EndWhenAllInputsHaveReachedTheirEndOrTheOneThatWasSet) {
  FreeLanes<SystemPolicy> lanes(control_, 2);
  for (int port : {0, 1}) lanes.input(port).set_own_end(1);
  produce(0, 2);
  produce(1, 2);
  pass(lanes, 0);
  EXPECT_EQ(lanes.try_input().look, Look::claimed);  // the other one
  pass(lanes, 0);
  EXPECT_EQ(lanes.try_input().look, Look::ended);
  lanes.input(1).set_own_end(kNever);
  pass(lanes, 0);
  EXPECT_EQ(lanes.port(), 1);
}

TEST_F(Lanes, ASuccessorFinishesTheInputInWorkAndLeavesOutWhatIsThere) {
  produce(0, 2);
  produce(1, 2);
  {
    FreeLanes<SystemPolicy> lanes(control_, 2);
    pass(lanes, 1);
    const auto input = lanes.try_input();
    ASSERT_EQ(input.look, Look::claimed);
    EXPECT_EQ(lanes.port(), 0);
    lanes.begin();
    lanes.publish(lanes.try_output().task, {});  // one of three, then it dies
  }
  repair(control_, 2, 0);
  FreeLanes<SystemPolicy> lanes(control_, 2);
  EXPECT_EQ(lanes.try_input().look, Look::claimed);
  EXPECT_EQ(lanes.port(), 0);  // not the other one, whose turn it would be
  EXPECT_EQ(lanes.output().low() - lanes.begin(), 1u);
  pass(lanes, 3);
  EXPECT_EQ(low(0), 4u);
  EXPECT_EQ(low(1), 1u);
}

TEST_F(Lanes, TheRepairRaisesAMarkThatLagsBehindTheJournalAndKeepsItsCounts) {
  produce(0, 1);
  FreeLanes<SystemPolicy> lanes(control_, 2);
  const auto input = lanes.try_input();
  ASSERT_EQ(input.look, Look::claimed);
  lanes.consume(input.task, {0, 1, 0});
  control_.stages[2].lanes[1].mark->low.value = 0;  // as if it had died before its last store
  repair(control_, 2, 0);
  EXPECT_EQ(low(1), 1u);
  const Tally<SystemPolicy>& tally = control_.stages[2].lanes[1].tallies[0];
  EXPECT_EQ(tally.entries[tally.newest()].counts().holes, 1u);
}

TEST_F(Lanes, ADomainWithoutASourceIsLeftAloneByAStop) {
  lower_end(control_, 2, 4);
  EXPECT_EQ(control_.domains[2]->end.value, kNever);
}

}  // namespace
}  // namespace brigade
