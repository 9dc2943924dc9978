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

/// Claims by hand, without threads: the sources' watermarks are moved by the test.
class Interleaved : public testing::Test {
 protected:
  explicit Interleaved(int sinks = 2, Join how = Join::epochs)
      : graph_(two_sources(how, sinks)), run_(graph_) {
    start(0, 100);
    start(1, 10);
    control().phase->value.store(static_cast<std::uint64_t>(Phase::running));
    for (int r = 0; r < sinks; ++r) joined_.push_back(join(r));
  }

  void start(StageNumber source, std::uint64_t samples) {
    const IndexSpaceNumber index_space = run_.plan().stages[source].queues[0].index_space;
    periods_[source] = epoch_period(samples, run_.plan().index_spaces[index_space].multiple);
    set_end(control(), index_space, samples, periods_[source], 3);
  }
  Control<SystemPolicy>& control() { return run_.control(); }
  JoinedQueues<SystemPolicy> join(int replica) {
    return JoinedQueues<SystemPolicy>(control(), run_.index("sink"), replica);
  }
  void publish(const std::string& source, std::uint64_t up_to) {
    run_.queue(source).watermark->level.value.store(up_to);
  }
  void publish_all() {
    publish("first", 3 * periods_[0]);
    publish("second", 3 * periods_[1]);
  }
  static std::string text(const Attempt<SystemPolicy>& found,
                          const JoinedQueues<SystemPolicy>& queues) {
    if (found.look == Look::claimed) return concat(queues.queue().value(), ":", found.task);
    return found.look == Look::ended ? "ended" : "blocked";
  }
  std::string claim(int replica) {
    JoinedQueues<SystemPolicy>& queues = joined_[replica];
    last_ = queues.try_claim();
    return text(last_, queues);
  }
  void finish(int replica, std::uint64_t task) { joined_[replica].finish(task, {}); }

  GraphBuilder graph_;
  RunLine run_;
  ByStage<std::uint64_t> periods_ = {0, 0};
  ByReplica<JoinedQueues<SystemPolicy>> joined_;
  Attempt<SystemPolicy> last_;
};

TEST_F(Interleaved, AnEpochOfTheFirstThenOneOfTheSecond) {
  publish_all();
  const std::uint64_t first_tasks = periods_[0] / 16;
  const std::uint64_t second_tasks = periods_[1] / 4;
  for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {
    for (std::uint64_t i = 0; i < first_tasks; ++i) {
      const std::uint64_t task = epoch * first_tasks + i;
      ASSERT_EQ(claim(0), concat("0:", task));
      finish(0, task);
    }
    for (std::uint64_t i = 0; i < second_tasks; ++i) {
      const std::uint64_t task = epoch * second_tasks + i;
      ASSERT_EQ(claim(0), concat("1:", task));
      finish(0, task);
    }
  }
  EXPECT_EQ(claim(0), "ended");
  EXPECT_EQ(claim(1), "ended");
}

TEST_F(Interleaved, TheNextTurnWaitsForTheOtherReplicas) {
  publish_all();
  const std::uint64_t tasks = periods_[0] / 16;
  ASSERT_EQ(claim(1), "0:0");
  for (std::uint64_t task = 1; task < tasks; ++task) {
    ASSERT_EQ(claim(0), concat("0:", task));
    finish(0, task);
  }
  ASSERT_EQ(claim(0), "blocked");
  EXPECT_EQ(last_.cause, Cause::barrier);
  EXPECT_EQ(last_.blocked_on, run_.queue("sink", 0).watermark);
  finish(1, 0);
  EXPECT_EQ(claim(0), "1:0");
  EXPECT_EQ(claim(1), "1:1");
}

TEST_F(Interleaved, WaitingForAnInputIsNoBarrier) {
  publish("second", periods_[1]);
  EXPECT_EQ(claim(0), "blocked");
  EXPECT_EQ(last_.cause, Cause::input);
  EXPECT_EQ(last_.blocked_on, run_.queue("first").watermark);
}

TEST_F(Interleaved, ASuccessorFindsItsPlaceFromTheWatermarks) {
  publish_all();
  const std::uint64_t first_tasks = periods_[0] / 16;
  for (std::uint64_t task = 0; task < first_tasks; ++task) {
    claim(0);
    finish(0, task);
  }
  claim(0);
  finish(0, 0);  // of the second source
  JoinedQueues<SystemPolicy> successor = join(1);
  const auto found = successor.try_claim();
  EXPECT_EQ(text(found, successor), "1:1");
}

TEST_F(Interleaved, ALoweredEndEndsTheTurn) {
  publish("first", 32);
  publish("second", 4);
  control().index_spaces[0]->end.value.store(32);
  control().index_spaces[1]->end.value.store(4);
  ASSERT_EQ(claim(0), "0:0");
  finish(0, 0);
  ASSERT_EQ(claim(0), "0:1");
  finish(0, 1);
  ASSERT_EQ(claim(0), "1:0");  // the line drains
  finish(0, 0);
  EXPECT_EQ(claim(0), "ended");
}

TEST_F(Interleaved, AnAbortEndsThem) {
  abort_all(control());
  EXPECT_EQ(claim(0), "ended");
}

TEST_F(Interleaved, PeriodsAreThoseOfTheIndexSpaces) {
  EXPECT_EQ(joined_[0].count(), 2);
  EXPECT_EQ(joined_[0].at(0).epochs().end(0), periods_[0]);
  EXPECT_EQ(joined_[0].at(1).epochs().end(1), 2 * periods_[1]);
}

class OneReplica : public Interleaved {
 protected:
  OneReplica() : Interleaved(1) {}
};

TEST_F(OneReplica, TurnsNeedNoTaskWords) {
  publish_all();
  std::string seen;
  for (int i = 0; i < 8; ++i) {
    seen += claim(0) + " ";
    finish(0, last_.task);
  }
  EXPECT_EQ(seen, "0:0 0:1 0:2 0:3 0:4 0:5 0:6 1:0 ");
}

class Merged : public Interleaved {
 protected:
  Merged() : Interleaved(1, Join::merge) {}
};

TEST_F(Merged, TakesWhicheverIsThere) {
  publish("second", 8);
  EXPECT_EQ(claim(0), "1:0");
  finish(0, 0);
  publish("first", 48);
  std::string seen;
  for (int i = 0; i < 4; ++i) {
    seen += claim(0) + " ";
    finish(0, last_.task);
  }
  EXPECT_EQ(seen, "0:0 1:1 0:1 0:2 ");  // in turn while both have tasks
  EXPECT_EQ(claim(0), "blocked");
  EXPECT_EQ(last_.cause, Cause::input);
}

TEST_F(Merged, WatchesTheWatermarksOfAllItsQueues) {
  const auto watched = joined_[0].watched();
  for (const auto* watermark : {run_.queue("first").watermark, run_.queue("second").watermark,
                                run_.queue("sink", 0).watermark, run_.queue("sink", 1).watermark})
    EXPECT_EQ(std::count(watched.begin(), watched.end(), watermark), 1);
}

TEST_F(Merged, EndsWithTheLastOfItsQueues) {
  control().index_spaces[0]->end.value.store(0);
  EXPECT_EQ(claim(0), "blocked");
  control().index_spaces[1]->end.value.store(0);
  EXPECT_EQ(claim(0), "ended");
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
