#include "pipeline/worker/replica/replica.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>

#include <brigade/text.h>
#include "tests/support/message_of.h"
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
  ASSERT_EQ(message_of(replica.open()), "no error");
  EXPECT_EQ(opened, 1);
  EXPECT_EQ(run.reporter.values()["opened"], "1");
  EXPECT_FALSE(replica.source_size().has_value());
}

TEST(Replica, BatchedStagesLearnTheirLargestBatch) {
  support::NumberLine line;
  line.batch = 64;
  RunLine run(support::number_graph(line));
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
  EXPECT_EQ(message_of(run.make(run.index("mix"), 0).open()),
            "parameter \"speed\": expected a whole number from 1 to 9, "
            "found \"50\"");
}

TEST(Replica, AnExceptionAtOpenIsAnError) {
  RunLine run(support::number_graph({}));
  run.stages["sink"] = [](int) {
    auto stage = std::make_unique<support::LambdaStage>(
        [](const Inputs&, Outputs&) -> Result<Next> { return Next::emit; });
    stage->on_open = [](const OpenContext&) -> Result<void> { throw std::runtime_error("no GPU"); };
    return stage;
  };
  EXPECT_EQ(message_of(run.make(run.index("sink"), 0).open()), "no GPU");
}

/// Nobody makes its stage or producer, and nobody may take what it was to fill for filled.
TEST(Replica, IsNotOpenedWhereTheRunEndsBeforeItsSharedTensorsAreThere) {
  RunLine run(support::number_graph({}));
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
  EXPECT_EQ(message_of(run.make(run.index("numbers"), 0).open()),
            "its source has 10 samples, but `skip:` and `split:` leave none of them");
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
  RunLine run(support::number_graph({}));
  run.producers["numbers"] = [](int) { return std::make_unique<Picky>(); };
  Replica replica = run.make(run.index("numbers"), 0);
  ASSERT_TRUE(replica.open().ok());
  EXPECT_EQ(
      replica.skipped(),
      (std::vector<SkippedInputs>{{SkipReason::no_match, 2, std::string(kSkipTextBytesMax, 'x')}}));
}

TEST(Replica, AnEmptySourceIsAnError) {
  RunLine run(support::number_graph({}));
  run.producers["numbers"] = [](int) { return support::make_numbers(0); };
  EXPECT_EQ(message_of(run.make(run.index("numbers"), 0).open()), "its source has no samples");
}

TEST(Replica, ASourceMakesTheEpochsLengthKnownBeforeItsFirstSlot) {
  RunLine run(support::number_graph({}));
  run.producers["numbers"] = [](int) { return support::make_numbers(100); };
  Replica replica = run.make(run.index("numbers"), 0);
  ASSERT_TRUE(replica.open().ok());
  EXPECT_EQ(run.control().index_spaces[0]->epoch_period.value,
            epoch_period(100, run.plan().index_spaces[0].multiple));
}

TEST(Replica, ConsumersWaitForTheStart) {
  support::NumberLine line;
  support::LoggedLine run(line);
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
  EXPECT_TRUE(run.log.events[0].empty());
  abort_all(run.control());
  thread.join();
  EXPECT_TRUE(returned);
  EXPECT_TRUE(run.log.events[0].empty());
}

}  // namespace
}  // namespace brigade
