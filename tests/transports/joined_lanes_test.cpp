#include "transports/joined_lanes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

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

/// Claims by hand, without threads: the sources' marks are moved by the test.
class Turns : public testing::Test {
 protected:
  explicit Turns(int sinks = 2, Join how = Join::epochs)
      : graph_(two_sources(how, sinks)), run_(graph_) {
    start(0, 100);
    start(1, 10);
    control().phase->value.store(static_cast<std::uint64_t>(Phase::running));
    for (int r = 0; r < sinks; ++r) joined_.push_back(join(r));
  }

  void start(int source, std::uint64_t samples) {
    const auto domain = static_cast<std::size_t>(
        run_.plan().stages[static_cast<std::size_t>(source)].lanes[0].domain);
    periods_[source] = epoch_period(samples, run_.plan().domains[domain].multiple);
    set_end(control(), static_cast<int>(domain), samples, periods_[source], 3);
  }
  Control<SystemPolicy>& control() { return run_.control(); }
  JoinedLanes<SystemPolicy> join(int replica) {
    return JoinedLanes<SystemPolicy>(control(), run_.index("sink"), replica);
  }
  void publish(const std::string& source, std::uint64_t up_to) {
    run_.lane(source).mark->low.value.store(up_to);
  }
  void publish_all() {
    publish("first", 3 * periods_[0]);
    publish("second", 3 * periods_[1]);
  }
  static std::string text(const Attempt<SystemPolicy>& found,
                          const JoinedLanes<SystemPolicy>& lanes) {
    if (found.look == Look::claimed) return concat(lanes.lane(), ":", found.task);
    return found.look == Look::ended ? "ended" : "blocked";
  }
  std::string claim(int replica) {
    JoinedLanes<SystemPolicy>& lanes = joined_[static_cast<std::size_t>(replica)];
    last_ = lanes.try_claim();
    return text(last_, lanes);
  }
  void finish(int replica, std::uint64_t task) {
    joined_[static_cast<std::size_t>(replica)].finish(task, {});
  }

  GraphBuilder graph_;
  RunLine run_;
  std::uint64_t periods_[2] = {};
  std::vector<JoinedLanes<SystemPolicy>> joined_;
  Attempt<SystemPolicy> last_;
};

/// The first source is a stream of 20 and 0 samples, the second has 10.
TEST(StreamTurns, AnEpochOfAStreamEndsWhereItSays) {
  GraphBuilder graph = two_sources(Join::epochs, 1, 2);
  graph.type_of("first").indexed = false;
  RunLine run(graph);
  int epoch = 0;
  int given = 0;
  run.stages["first"] = [&](int) {
    auto stage = std::make_unique<support::LambdaStage>([&](const Inputs&, Outputs& out) {
      if (given == (epoch == 0 ? 20 : 0)) return Result<Next>(Next::end);
      out["value"].as<std::int64_t>()[0] = given++;
      return Result<Next>(Next::emit);
    });
    stage->on_epoch_end = [&](const EpochEnd&) {
      ++epoch;
      given = 0;
      return Result<void>();
    };
    return stage;
  };
  run.producers["second"] = [](int) { return support::make_numbers(10); };
  Log log;
  run.stages["sink"] = [&](int replica) { return support::make_logger(log, replica); };
  ASSERT_TRUE(run.run().ok());
  std::vector<std::string> seen;
  for (const Event& event : log.events[0])
    seen.push_back(concat(event.port, event.is_end ? " end " : " ", event.epoch,
                          event.is_end ? "" : concat(" x", event.rows.size())));
  EXPECT_EQ(seen, (std::vector<std::string>{"first 0 x16", "first 0 x4", "first end 0",
                                            "second 0 x4", "second 0 x4", "second 0 x2",
                                            "second end 0", "first end 1", "second 1 x4",
                                            "second 1 x4", "second 1 x2", "second end 1"}));
  EXPECT_EQ(run.audit("first", "sink", 0).leaked, 0);
}

TEST_F(Turns, AnEpochOfTheFirstThenOneOfTheSecond) {
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

TEST_F(Turns, TheNextTurnWaitsForTheOtherReplicas) {
  publish_all();
  const std::uint64_t tasks = periods_[0] / 16;
  ASSERT_EQ(claim(1), "0:0");
  for (std::uint64_t task = 1; task < tasks; ++task) {
    ASSERT_EQ(claim(0), concat("0:", task));
    finish(0, task);
  }
  ASSERT_EQ(claim(0), "blocked");
  EXPECT_EQ(last_.cause, Cause::gate);
  EXPECT_EQ(last_.blocked_on, run_.lane("sink", 0).mark);
  finish(1, 0);
  EXPECT_EQ(claim(0), "1:0");
  EXPECT_EQ(claim(1), "1:1");
}

TEST_F(Turns, WaitingForAnInputIsNoGate) {
  publish("second", periods_[1]);
  EXPECT_EQ(claim(0), "blocked");
  EXPECT_EQ(last_.cause, Cause::input);
  EXPECT_EQ(last_.blocked_on, run_.lane("first").mark);
}

TEST_F(Turns, ASuccessorFindsItsPlaceFromTheMarks) {
  publish_all();
  const std::uint64_t first_tasks = periods_[0] / 16;
  for (std::uint64_t task = 0; task < first_tasks; ++task) {
    claim(0);
    finish(0, task);
  }
  claim(0);
  finish(0, 0);  // of the second source
  JoinedLanes<SystemPolicy> successor = join(1);
  const auto found = successor.try_claim();
  EXPECT_EQ(text(found, successor), "1:1");
}

TEST_F(Turns, ALoweredEndEndsTheTurn) {
  publish("first", 32);
  publish("second", 4);
  control().domains[0]->end.value.store(32);
  control().domains[1]->end.value.store(4);
  ASSERT_EQ(claim(0), "0:0");
  finish(0, 0);
  ASSERT_EQ(claim(0), "0:1");
  finish(0, 1);
  ASSERT_EQ(claim(0), "1:0");  // the line runs dry
  finish(0, 0);
  EXPECT_EQ(claim(0), "ended");
}

TEST_F(Turns, AnAbortEndsThem) {
  abort_all(control());
  EXPECT_EQ(claim(0), "ended");
}

TEST_F(Turns, PeriodsAreThoseOfTheDomains) {
  EXPECT_EQ(joined_[0].count(), 2);
  EXPECT_EQ(joined_[0].at(0).epochs().end(0), periods_[0]);
  EXPECT_EQ(joined_[0].at(1).epochs().end(1), 2 * periods_[1]);
}

class OneReplica : public Turns {
 protected:
  OneReplica() : Turns(1) {}
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

class Merged : public Turns {
 protected:
  Merged() : Turns(1, Join::merge) {}
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

TEST_F(Merged, WatchesTheMarksOfAllItsLanes) {
  const auto watched = joined_[0].watched();
  for (const auto* mark : {run_.lane("first").mark, run_.lane("second").mark,
                           run_.lane("sink", 0).mark, run_.lane("sink", 1).mark})
    EXPECT_EQ(std::count(watched.begin(), watched.end(), mark), 1);
}

TEST_F(Merged, EndsWithTheLastOfItsLanes) {
  control().domains[0]->end.value.store(0);
  EXPECT_EQ(claim(0), "blocked");
  control().domains[1]->end.value.store(0);
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
      for (const SampleInfo& row : call.rows) ids.push_back(row.id);
    const std::uint64_t samples = port == "first" ? 100 : 10;
    ASSERT_EQ(ids.size(), samples * 3);
    for (std::size_t i = 0; i < ids.size(); ++i) EXPECT_EQ(ids[i], i % samples);
    EXPECT_EQ(run.audit(port, "sink", port == "first" ? 0 : 1).delivered, samples * 3);
    EXPECT_EQ(run.audit(port, "sink", port == "first" ? 0 : 1).leaked, 0);
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

class AssignFixed : public testing::TestWithParam<bool> {};

TEST_P(AssignFixed, GivesEveryReplicaAsManyCalls) {
  const bool drop_last = GetParam();
  GraphBuilder graph;
  graph.graph().epochs = 2;
  graph.producer("numbers", {support::kValue}).batch = 16;
  ValidStage& sink = graph.consumer("sink", {"numbers"});
  sink.batched = true;
  sink.replicas = 3;
  sink.fixed = true;
  sink.drop_last = drop_last;
  RunLine run(graph);
  run.producers["numbers"] = [](int) { return support::make_numbers(100); };
  std::array<std::vector<std::int64_t>, 3> calls;  // rows of each
  std::array<std::vector<std::uint64_t>, 3> tasks;
  run.stages["sink"] = [&](int replica) {
    return std::make_unique<support::LambdaStage>(
        [&, replica](const Inputs& in, Outputs&) -> Result<Next> {
          calls[static_cast<std::size_t>(replica)].push_back(in.rows());
          if (in.rows() > 0)
            tasks[static_cast<std::size_t>(replica)].push_back(in.sample().number / 16);
          return Next::emit;
        });
  };
  const Result<void> ran = run.run();
  ASSERT_TRUE(ran.ok()) << ran.error().message;
  // An epoch of 100 samples takes three rounds of three batches: 16 x 6, 4, and two empty ones.
  // The last round is short.
  using Rows = std::vector<std::int64_t>;
  EXPECT_EQ(calls[0], drop_last ? Rows({16, 16, 16, 16}) : Rows({16, 16, 4, 16, 16, 4}));
  EXPECT_EQ(calls[1], drop_last ? Rows({16, 16, 16, 16}) : Rows({16, 16, 0, 16, 16, 0}));
  EXPECT_EQ(calls[2], calls[1]);
  for (std::size_t r = 0; r < 3; ++r)
    for (const std::uint64_t task : tasks[r]) EXPECT_EQ(task % 3, r);
  EXPECT_EQ(run.audit("numbers", "sink").delivered, drop_last ? 192u : 200u);
  EXPECT_EQ(run.audit("numbers", "sink").leaked, 0);
}

INSTANTIATE_TEST_SUITE_P(DropLast, AssignFixed, testing::Bool());

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

TEST(JoinZip, GivesTheSameNumbersFromEachSource) {
  GraphBuilder graph = two_sources(Join::zip);
  for (ValidStage& stage : graph.graph().stages) stage.shuffle = true;
  RunLine run(graph);
  run.producers["first"] = [](int) { return support::make_numbers(100); };
  run.producers["second"] = [](int) {
    return std::make_unique<support::LambdaProducer>(
        100, [](std::uint64_t index, Outputs& out) -> Result<Next> {
          out["value"].as<std::int64_t>()[0] = -static_cast<std::int64_t>(index);
          return Next::emit;
        });
  };
  std::uint64_t rows = 0;
  run.stages["sink"] = [&](int) {
    return std::make_unique<support::LambdaStage>([&](const Inputs& in, Outputs&) -> Result<Next> {
      for (std::int64_t row = 0; row < in.rows(); ++row, ++rows) {
        const auto left = in.row(row)["first.value"].as<std::int64_t>()[0];
        EXPECT_EQ(left, -in.row(row)["second.value"].as<std::int64_t>()[0]);
        EXPECT_EQ(static_cast<std::uint64_t>(left), in.sample(row).id);
      }
      return Next::emit;
    });
  };
  const Result<void> ran = run.run();
  ASSERT_TRUE(ran.ok()) << ran.error().message;
  EXPECT_EQ(rows, 300u);
}

}  // namespace
}  // namespace brigade
