#include "transports/flat_map_queues.h"
#include "transports/journal.h"

#include <gtest/gtest.h>

#include "tests/support/line.h"
#include "transports/repair.h"
#include "transports/stop.h"

namespace brigade {
namespace {

/// Two sources of 8 samples, index spaces 0 and 1 -> a stage with free numbering, index space 2,
/// whose output task queue is task queue 0 -> sink.
class Queues : public testing::Test {
 protected:
  static SharedShape shape() {
    SharedShape shape = support::line_shape(
        {{1, 1, 8, {}, true}, {1, 1, 8, {}, true}, {1, 1, 4, {}, true}, {1, 1, 0, {2}, true}});
    shape.index_spaces = 3;
    shape.stages[1].queues[0].index_space = 1;
    StageShape& free = shape.stages[2];
    free.source = false;
    free.journal_ports = 2;
    free.queues[0].index_space = 2;
    for (int port : {0, 1}) {
      QueueShape queue = free.queues[0];
      queue.index_space = IndexSpaceNumber(port);
      queue.inputs = {StageNumber(port)};
      free.queues.push_back(queue);
    }
    shape.stages[3].queues[0].index_space = 2;
    shape.epoch_ends = {0, 0, 1};
    return shape;
  }
  Queues() {
    set_end(control_, 0, 8, 8, 1);
    set_end(control_, 1, 8, 8, 1);
  }
  void produce(StageNumber source, int samples) {
    Channel<SystemPolicy> channel(control_, source, 0, 0);
    for (; samples > 0; --samples) channel.finish(channel.try_claim().task);
  }
  std::uint64_t level(QueueNumber queue) {
    return control_.stages[2].queues[queue].watermark->level.value;
  }
  /// The next input, with `outputs` outputs.
  void pass(FlatMapQueues<SystemPolicy>& queues, int outputs) {
    const auto input = queues.try_input();
    ASSERT_EQ(input.look, Look::claimed);
    std::uint64_t there = queues.output().level() - queues.begin();
    for (int i = static_cast<int>(there); i < outputs; ++i) {
      const auto output = queues.try_output();
      ASSERT_EQ(output.look, Look::claimed);
      queues.publish(output.task, {});
    }
    queues.consume(input.task, {});
  }

  const SharedShape shape_ = shape();
  support::LineMemory memory_{control_bytes<SystemPolicy>(shape_)};
  Control<SystemPolicy> control_ = create_control<SystemPolicy>(memory_.data(), shape_);
};

TEST_F(Queues, EndWhenAllInputsHaveReachedTheirEndOrTheOneThatWasSet) {
  FlatMapQueues<SystemPolicy> queues(control_, 2);
  for (int port : {0, 1}) queues.input(port).set_own_end(1);
  produce(0, 2);
  produce(1, 2);
  pass(queues, 0);
  EXPECT_EQ(queues.try_input().look, Look::claimed);  // the other one
  pass(queues, 0);
  EXPECT_EQ(queues.try_input().look, Look::ended);
  queues.input(1).set_own_end(kNever);
  pass(queues, 0);
  EXPECT_EQ(queues.port(), 1);
}

TEST_F(Queues, TheRepairRaisesAWatermarkThatLagsBehindTheJournalAndKeepsItsCounts) {
  produce(0, 1);
  FlatMapQueues<SystemPolicy> queues(control_, 2);
  const auto input = queues.try_input();
  ASSERT_EQ(input.look, Look::claimed);
  queues.consume(input.task, {0, 1, 0});
  control_.stages[2].queues[1].watermark->level.value =
      0;  // as if it had died before its last store
  repair(control_, 2, 0);
  EXPECT_EQ(level(1), 1u);
  const Tally<SystemPolicy>& tally = control_.stages[2].queues[1].tallies[0];
  EXPECT_EQ(tally.entries[tally.newest()].counts().empty_slots, 1u);
}

TEST_F(Queues, AIndexSpaceWithoutASourceIsLeftAloneByAStop) {
  lower_end(control_, 2, 4);
  EXPECT_EQ(control_.index_spaces[2]->end.value, kNever);
}

}  // namespace
}  // namespace brigade
