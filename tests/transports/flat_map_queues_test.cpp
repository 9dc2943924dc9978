// What stepping (merge_test) does not show of a flat_map stage: ends that were set, and an abort.

#include "transports/flat_map_queues.h"
#include "transports/flat_map_run.h"
#include "transports/journal.h"

#include <gtest/gtest.h>

#include "tests/support/line.h"
#include "transports/stop.h"

namespace brigade {
namespace {

/// Two sources of 8 samples, index spaces 0 and 1 -> a stage with free numbering, index space 2,
/// whose output task queue is task queue 0 -> sink.
class Queues : public testing::Test, protected support::LineControl {
 protected:
  static SharedShape merge() {
    SharedShape shape = support::line_shape(
        {{1, 1, 8, {}, true}, {1, 1, 8, {}, true}, {1, 1, 4, {}, true}, {1, 1, 0, {2}, true}});
    support::make_flat_map(shape, 2);
    return shape;
  }
  Queues() : LineControl(merge()) {
    for (const int source : {0, 1}) {
      set_end(control, IndexSpaceNumber(source), 8, 8, 1);
      Channel<SystemPolicy> channel(control, StageNumber(source), 0, 0);
      for (int samples = 0; samples < 2; ++samples) channel.finish(channel.try_claim().task);
    }
  }
  static void pass(FlatMapQueues<SystemPolicy>& queues) {
    const auto input = queues.try_input();
    ASSERT_EQ(input.look, Look::claimed);
    queues.consume(input.task, {});
  }
};

TEST_F(Queues, EndWhenAllInputsHaveReachedTheirEndOrTheOneThatWasSet) {
  FlatMapQueues<SystemPolicy> queues(control, 2);
  for (int port : {0, 1}) queues.input(port).set_own_end(1);
  pass(queues);
  EXPECT_EQ(queues.try_input().look, Look::claimed);  // the other one
  pass(queues);
  EXPECT_EQ(queues.try_input().look, Look::ended);
  queues.input(1).set_own_end(kNever);
  pass(queues);
  EXPECT_EQ(queues.port(), 1);
}

TEST_F(Queues, AnIndexSpaceWithoutASourceIsLeftAloneByAStop) {
  lower_end(control, 2, 4);
  EXPECT_EQ(control.index_spaces[2]->end.value, kNever);
}

/// A stage that is not to be asked for anything.
struct Unasked {
  Result<FlatMapInput> look(int, std::uint64_t) { return Error{"asked for its outputs"}; }
  void write(int, std::uint64_t, std::uint64_t, std::uint64_t) { ADD_FAILURE(); }
  void pad(std::uint64_t, std::uint64_t) { ADD_FAILURE(); }
  void done(const FlatMapInput&) { ADD_FAILURE(); }
  Result<void> tell(std::uint64_t) { return Error{"told of an epoch"}; }
  void interrupt() {}
  void begin_wait(Cause) {}
  void end_wait(Cause) {}
};

TEST_F(Queues, AnAbortEndsTheRunAndNoEpoch) {
  Unasked stage;
  abort_all(control);
  EXPECT_TRUE((FlatMapRun<SystemPolicy, Unasked>(control, 2, {4, 1, 1}, 0, stage).run().ok()));
  EXPECT_EQ(control.epoch_ends[2].size(), 0u);
}

}  // namespace
}  // namespace brigade
