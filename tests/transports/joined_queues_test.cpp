// What conformance (the shapes Merge and Epochs) and stepping (interleave) do not show.

#include "transports/joined_queues.h"

#include <gtest/gtest.h>

#include "tests/support/number_line.h"

namespace brigade {
namespace {

using support::RunLine;

/// first (100 samples, batches of 16) and second (10 samples, batches of 4) -> two sinks.
GraphBuilder two_sources() {
  GraphBuilder graph;
  graph.graph().epochs = 3;
  graph.producer("first", {support::kValue}).batch = 16;
  graph.producer("second", {support::kValue}).batch = 4;
  ValidStage& sink = graph.consumer("sink", {"first", "second"}, Join::epochs);
  sink.batched = true;
  sink.replicas = 2;
  return graph;
}

/// Claims by hand, without threads.
class Interleaved : public testing::Test {
 protected:
  Interleaved() : graph_(two_sources()), run_(graph_) {
    start(0, 100);
    start(1, 10);
    control().phase->value.store(static_cast<std::uint64_t>(Phase::running));
  }

  void start(StageNumber source, std::uint64_t samples) {
    const IndexSpaceNumber index_space = run_.plan().stages[source].queues[0].index_space;
    periods_[source] = epoch_period(samples, run_.plan().index_spaces[index_space].multiple);
    set_end(control(), index_space, samples, periods_[source], 3);
  }
  Control<SystemPolicy>& control() { return run_.control(); }
  JoinedQueues<SystemPolicy> join() {
    return JoinedQueues<SystemPolicy>(control(), run_.index("sink"), 0);
  }

  GraphBuilder graph_;
  RunLine run_;
  ByStage<std::uint64_t> periods_ = {0, 0};
};

TEST_F(Interleaved, AnAbortEndsThem) {
  JoinedQueues<SystemPolicy> joined = join();
  abort_all(control());
  EXPECT_EQ(joined.try_claim().look, Look::ended);
}

TEST_F(Interleaved, PeriodsAreThoseOfTheIndexSpaces) {
  JoinedQueues<SystemPolicy> joined = join();
  EXPECT_EQ(joined.count(), 2);
  EXPECT_EQ(joined.at(0).epochs().end(0), periods_[0]);
  EXPECT_EQ(joined.at(1).epochs().end(1), 2 * periods_[1]);
}

}  // namespace
}  // namespace brigade
