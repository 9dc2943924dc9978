#include "pipeline/worker/replica/replica.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>

#include <brigade/text.h>
#include "tests/support/number_line.h"

namespace brigade {
namespace {

using support::RunLine;

struct SpeedParams {
  std::int64_t speed = 1;
};

/// number_graph whose `mix` has a contract with a parameter.
GraphBuilder graph_with_params(const std::string& value) {
  support::NumberLine line;
  line.batch = 64;
  GraphBuilder graph = support::number_graph(line);
  StageType& type = graph.type_of("mix");
  type.contract = Contract<SpeedParams>("mix_type", "Mixes.")
                      .param("speed", &SpeedParams::speed, 1, 9, "how fast")
                      .erased();
  ValidStage& mix = graph.stage("mix");
  mix.param_values = {{"speed", ParamValue::scalar(value)}};
  mix.replicas = 2;
  mix.threads = 3;
  mix.device = "cuda:1";
  mix.random = "shared";
  graph.graph().oversubscribe = true;
  return graph;
}

TEST(Replica, TellsItsStageEverythingAtOpen) {
  GraphBuilder graph = graph_with_params("5");
  RunLine run(graph);
  int opened = 0;
  run.stages["mix"] = [&](int) {
    auto stage = std::make_unique<support::LambdaStage>(
        [](const Inputs&, Outputs&) -> Result<Next> { return Next::emit; });
    stage->on_open = [&](const OpenContext& open) -> Result<void> {
      ++opened;
      EXPECT_EQ(open.stage, "mix");
      EXPECT_EQ(open.replica, 1);
      EXPECT_EQ(open.replicas, 2);
      EXPECT_EQ(open.threads, run.stage("mix").threads);
      EXPECT_EQ(open.device, "cuda:1");
      EXPECT_EQ(open.seed, 7u);
      EXPECT_EQ(open.stream, stream_id("shared"));
      EXPECT_EQ(open.epochs, 2u);
      EXPECT_EQ(open.samples_max, 1);
      EXPECT_EQ(open.saved, "");
      EXPECT_EQ(open.inputs, Ports{support::kValue});
      EXPECT_EQ(open.outputs, Ports{support::kValue});
      EXPECT_EQ(open.params<SpeedParams>().speed, 5);
      open.reporter->report("opened", std::uint64_t{1});
      return {};
    };
    return stage;
  };
  Replica replica = run.make(run.index("mix"), 1);
  const Result<void> result = replica.open();
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_EQ(opened, 1);
  EXPECT_EQ(run.reporter.values()["opened"], "1");
  EXPECT_FALSE(replica.source_size().has_value());
}

TEST(Replica, BatchedStagesLearnTheirLargestBatch) {
  support::NumberLine line;
  line.batch = 64;
  GraphBuilder graph = support::number_graph(line);
  RunLine run(graph);
  run.stages["sink"] = [&](int) {
    auto stage = std::make_unique<support::LambdaStage>(
        [](const Inputs&, Outputs&) -> Result<Next> { return Next::emit; });
    stage->on_open = [](const OpenContext& open) -> Result<void> {
      EXPECT_EQ(open.samples_max, 64);
      return Error{"seen"};
    };
    return stage;
  };
  EXPECT_EQ(run.make(run.index("sink"), 0).open().error().message, "seen");
}

TEST(Replica, RefusesParametersThatDoNotFit) {
  GraphBuilder graph = graph_with_params("50");
  RunLine run(graph);
  run.stages["mix"] = [](int) { return support::make_mix(false); };
  const Result<void> opened = run.make(run.index("mix"), 0).open();
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().message,
            "parameter \"speed\": expected a whole number from 1 to 9, "
            "found \"50\"");
}

TEST(Replica, AnExceptionAtOpenIsAnError) {
  GraphBuilder graph = support::number_graph({});
  RunLine run(graph);
  run.stages["sink"] = [](int) {
    auto stage = std::make_unique<support::LambdaStage>(
        [](const Inputs&, Outputs&) -> Result<Next> { return Next::emit; });
    stage->on_open = [](const OpenContext&) -> Result<void> { throw std::runtime_error("no GPU"); };
    return stage;
  };
  const Result<void> opened = run.make(run.index("sink"), 0).open();
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().message, "no GPU");
}

/// Nobody makes its stage or producer, and nobody may take what it was to fill for filled.
TEST(Replica, IsNotOpenedWhereTheRunEndsBeforeItsSharedTensorsAreThere) {
  GraphBuilder graph = support::number_graph({});
  RunLine run(graph);
  std::uint64_t words[2] = {};
  float values[2] = {};
  for (const bool fill : {false, true})
    run.shared.emplace_back("w", f32, Shape{1},
                            SharedTensor::Memory{{}, &values[fill], &words[fill], true, fill});
  abort_all(run.control());
  for (const char* name : {"numbers", "mix", "sink"}) {
    Replica replica = run.make(run.index(name), 0);
    ASSERT_TRUE(replica.open().ok()) << name;
    EXPECT_FALSE(replica.source_size().has_value());
    EXPECT_TRUE(replica.run().ok()) << name;
    EXPECT_TRUE(replica.close().ok()) << name;
  }
  EXPECT_EQ(words[1], 0u);
}

TEST(Replica, LimitShortensTheSource) {
  for (const std::uint64_t limit : {0, 30, 1000}) {
    GraphBuilder graph = support::number_graph({});
    graph.stage("numbers").limit = limit;
    RunLine run(graph);
    run.producers["numbers"] = [](int) { return support::make_numbers(100); };
    Replica replica = run.make(run.index("numbers"), 0);
    ASSERT_TRUE(replica.open().ok());
    EXPECT_EQ(replica.source_size(), limit == 30 ? 30u : 100u);
    std::vector<SkippedInputs> behind;
    if (limit == 30) behind = {{SkipReason::limit, 70, "omitted by `limit:`"}};
    EXPECT_EQ(replica.skipped(), behind);
  }
}

TEST(Replica, APartHasItsSamplesAndSaysWhereTheOthersAre) {
  for (const char* part : {"train", "val"}) {
    GraphBuilder graph = support::number_graph({});
    ValidStage& numbers = graph.stage("numbers");
    numbers.skip = 10;
    numbers.split.shares = {{"train", kWholeShare / 10 * 9}};
    numbers.part = part;
    numbers.limit = 5;
    numbers.take = Take::first;
    RunLine run(graph);
    run.producers["numbers"] = [](int) { return support::make_numbers(110); };
    Replica replica = run.make(run.index("numbers"), 0);
    ASSERT_TRUE(replica.open().ok());
    EXPECT_EQ(replica.source_size(), 5u);
    const std::uint64_t size = std::string(part) == "val" ? 10 : 90;
    EXPECT_EQ(replica.skipped(), (std::vector<SkippedInputs>{
                                     {SkipReason::skip, 10, "skipped by `skip:`"},
                                     {SkipReason::split, 100 - size, "in other parts of `split:`"},
                                     {SkipReason::limit, size - 5, "beyond `limit:`"}}));
  }
}

TEST(Replica, APartOfNothingIsRefused) {
  GraphBuilder graph = support::number_graph({});
  graph.stage("numbers").skip = 10;
  RunLine run(graph);
  run.producers["numbers"] = [](int) { return support::make_numbers(10); };
  const Result<void> opened = run.make(run.index("numbers"), 0).open();
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().message,
            "its source has 10 samples, but `skip:` and `split:` leave none of them");
}

TEST(Replica, WhatOtherRanksReadIsDropped) {
  const SkippedInputs ranks{SkipReason::ranks, 6, "for the other ranks"};
  const SkippedInputs rest{SkipReason::uneven, 1,
                           "left over after division among the ranks (`uneven: drop`)"};
  for (const Uneven uneven : {Uneven::pad, Uneven::drop}) {
    GraphBuilder graph = support::number_graph({});
    graph.graph().shard = {1, 3, uneven};
    RunLine run(graph);
    run.producers["numbers"] = [](int) { return support::make_numbers(10); };
    Replica replica = run.make(run.index("numbers"), 0);
    ASSERT_TRUE(replica.open().ok());
    const bool drop = uneven == Uneven::drop;
    EXPECT_EQ(replica.source_size(), drop ? 3u : 4u);
    EXPECT_EQ(replica.skipped(),
              drop ? (std::vector<SkippedInputs>{ranks, rest}) : std::vector<SkippedInputs>{ranks});
  }
}

TEST(Replica, ASourceSaysWhatItDrops) {
  class Picky final : public Producer, public SkipsInputs {
   public:
    Result<std::uint64_t> size() override { return std::uint64_t{5}; }
    Result<Next> read(std::uint64_t, Outputs&) override { return Next::emit; }
    std::vector<SkippedInputs> skipped() const override {
      return {{SkipReason::no_match, 2, std::string(1000, 'x')}, {SkipReason::blank, 0, "none"}};
    }
  };
  GraphBuilder graph = support::number_graph({});
  RunLine run(graph);
  run.producers["numbers"] = [](int) { return std::make_unique<Picky>(); };
  Replica replica = run.make(run.index("numbers"), 0);
  ASSERT_TRUE(replica.open().ok());
  EXPECT_EQ(
      replica.skipped(),
      (std::vector<SkippedInputs>{{SkipReason::no_match, 2, std::string(kSkipTextBytesMax, 'x')}}));
}

TEST(Replica, AnEmptySourceIsAnError) {
  GraphBuilder graph = support::number_graph({});
  RunLine run(graph);
  run.producers["numbers"] = [](int) { return support::make_numbers(0); };
  const Result<void> opened = run.make(run.index("numbers"), 0).open();
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().message, "its source has no samples");
}

TEST(Replica, ASourceMakesTheEpochsLengthKnownBeforeItsFirstSlot) {
  GraphBuilder graph = support::number_graph({});
  RunLine run(graph);
  run.producers["numbers"] = [](int) { return support::make_numbers(100); };
  Replica replica = run.make(run.index("numbers"), 0);
  ASSERT_TRUE(replica.open().ok());
  EXPECT_EQ(run.control().index_spaces[0]->epoch_period.value,
            epoch_period(100, run.plan().index_spaces[0].multiple));
}

TEST(Replica, ConsumersWaitForTheStart) {
  support::NumberLine line;
  GraphBuilder graph = support::number_graph(line);
  RunLine run(graph);
  support::Log log;
  support::fill_number_line(run, line, log);
  ASSERT_TRUE(run.open_all().ok());
  run.control().phase->value.store(static_cast<std::uint64_t>(Phase::starting));
  Replica sink = run.make(run.index("sink"), 0);
  ASSERT_TRUE(sink.open().ok());
  run.queue("mix").watermark->level.value.store(
      run.plan().index_spaces[0].multiple);  // there is work
  std::atomic<bool> returned{false};
  std::thread thread([&] {
    EXPECT_TRUE(sink.run().ok());
    returned = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(returned);
  EXPECT_TRUE(log.events[0].empty());
  abort_all(run.control());
  thread.join();
  EXPECT_TRUE(returned);
  EXPECT_TRUE(log.events[0].empty());
}

TEST(Replica, AnAbortEndsEverybodyWhereverTheyWait) {
  support::NumberLine line;
  line.samples = 10'000;
  line.mixers = 2;
  GraphBuilder graph = support::number_graph(line);
  RunLine run(graph);
  support::Log log;
  support::fill_number_line(run, line, log);
  std::atomic<bool> aborted{false};
  run.stages["sink"] = [&](int) {
    return std::make_unique<support::LambdaStage>([&](const Inputs&, Outputs&) -> Result<Next> {
      while (!aborted) std::this_thread::yield();  // everybody above is blocked by now, or soon
      return Next::emit;
    });
  };
  run.while_running = [&] {
    abort_all(run.control());
    aborted = true;
  };
  EXPECT_TRUE(run.run().ok());
}

}  // namespace
}  // namespace brigade
