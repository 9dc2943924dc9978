#include "transports/joined_queues.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/number_line.h"

namespace brigade {
namespace {

using support::Event;
using support::Log;
using support::RunLine;

/// first (100 samples, batches of 16) and second (10 samples, batches of 4) -> sink.
GraphBuilder two_sources(Join join, int sinks = 1, std::uint64_t epochs = 3) {
  GraphBuilder graph;
  graph.graph().epochs = epochs;
  graph.producer("first", {support::kValue}).batch = 16;
  graph.producer("second", {support::kValue}).batch = join == Join::zip ? 16 : 4;
  ValidStage& sink = graph.consumer("sink", {"first", "second"}, join);
  sink.batched = true;
  sink.replicas = static_cast<std::uint64_t>(sinks);
  return graph;
}

/// Claims by hand, without threads.
class Interleaved : public testing::Test {
 protected:
  Interleaved() : graph_(two_sources(Join::epochs, 2)), run_(graph_) {
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

/// Runs both sources into the log: three epochs of every sample of each, in its order.
void run_three_epochs(RunLine& run, Log& log) {
  run.producers["first"] = [](int) { return support::make_numbers(100); };
  run.producers["second"] = [](int) { return support::make_numbers(10); };
  run.stages["sink"] = [&](int replica) { return support::make_logger(log, replica); };
  const Result<void> ran = run.run();
  ASSERT_TRUE(ran.ok()) << ran.error().message;
  for (const std::string port : {"first", "second"}) {
    std::vector<std::uint64_t> ids;
    for (const Event& call : log.calls(port))
      for (const SampleInfo& slot : call.samples) ids.push_back(slot.id);
    const std::uint64_t samples = port == "first" ? 100 : 10;
    ASSERT_EQ(ids.size(), samples * 3);
    for (std::size_t i = 0; i < ids.size(); ++i) EXPECT_EQ(ids[i], i % samples);
    const EdgeAudit audit = run.audit(port, "sink", QueueNumber(port == "first" ? 0 : 1));
    EXPECT_EQ(audit.delivered, samples * 3);
    EXPECT_EQ(audit.leaked, 0);
  }
}

class JoinMerge : public testing::TestWithParam<int> {};

TEST_P(JoinMerge, GivesEverySampleOfEachSourceInItsOrder) {
  const int sinks = GetParam();
  GraphBuilder graph = two_sources(Join::merge, sinks);
  RunLine run(graph);
  Log log(sinks);
  run_three_epochs(run, log);
  for (const auto& events : log.events) {
    const auto ends = std::count_if(events.begin(), events.end(),
                                    [](const Event& event) { return event.is_end; });
    EXPECT_EQ(ends, 6);  // three epochs of each source, told to every replica
  }
}

INSTANTIATE_TEST_SUITE_P(Replicas, JoinMerge, testing::Values(1, 2, 4));

/// The turn an event belongs to: the end of a turn is the last thing in it.
std::uint64_t turn_of(const Event& event) {
  return 2 * std::uint64_t{event.epoch} + (event.port == "second" ? 1 : 0);
}

class JoinEpochs : public testing::TestWithParam<int> {};

TEST_P(JoinEpochs, GivesEachSourceItsTurnAndEveryReplicaEveryEnd) {
  const int sinks = GetParam();
  GraphBuilder graph = two_sources(Join::epochs, sinks);
  RunLine run(graph);
  Log log(sinks);
  run_three_epochs(run, log);

  std::vector<std::uint64_t> first_began(6, ~0ull);
  std::vector<std::uint64_t> last_ended(6, 0);
  for (const auto& events : log.events) {
    std::vector<std::uint64_t> ends;
    for (const Event& event : events) {
      if (event.is_end) {
        ends.push_back(turn_of(event));
        continue;
      }
      EXPECT_EQ(turn_of(event), ends.size());  // before its next task
      auto& began = first_began[turn_of(event)];
      began = std::min(began, event.began);
      auto& ended = last_ended[turn_of(event)];
      ended = std::max(ended, event.ended);
    }
    EXPECT_EQ(ends, (std::vector<std::uint64_t>{0, 1, 2, 3, 4, 5}));
  }
  for (std::size_t turn = 1; turn < 6; ++turn)
    EXPECT_LT(last_ended[turn - 1], first_began[turn]) << turn;
}

INSTANTIATE_TEST_SUITE_P(Replicas, JoinEpochs, testing::Values(1, 2, 4));

}  // namespace
}  // namespace brigade
