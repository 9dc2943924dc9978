// `order: any`: a program gets each batch as soon as it is finished, each once.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <map>
#include <numeric>
#include <thread>
#include <vector>

#include <brigade/pipeline.h>
#include <brigade/text.h>

namespace brigade {
namespace {

std::atomic<bool> first_may_go{true};

struct HeldUpParams {};

/// The first sample takes until the test says so.
class HeldUp : public Stage {
 public:
  Result<Next> process(const Inputs& in, Outputs&) override {
    while (in.info().id == 0 && !first_may_go)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return Next::emit;
  }
};

StageTypes held_up_types() {
  StageTypes types;
  types.add<HeldUp>(
      Contract<HeldUpParams>("held_up", "Waits with the first.").transform().rest_passes());
  return types;
}

struct AnyOrder : testing::Test {
  char name[8] = "program";
  char* arguments[1] = {name};
  const App app{1, arguments, held_up_types()};

  std::unique_ptr<brigade::Run> start(const std::string& order, std::uint64_t batch) {
    auto graph = Pipeline::from_text(concat(
        "epochs: 3\nstages:\n  numbers: {producer: synthetic, params: {count: 100, shape: [1]}}\n"
        "  work: {transform: held_up, from: numbers, replicas: 3, chunk: 1, batch: ",
        batch, "}\n  out: {consumer: application, from: work, hold: 3, params: {order: ", order,
        "}}\n"));
    auto run = graph.quiet().in_process().start(app);
    EXPECT_TRUE(run.ok()) << run.error().message;
    return run ? std::move(*run) : nullptr;
  }
};

std::vector<std::int64_t> values_of(const Batch& batch) {
  const auto data = batch["data"].as<std::int64_t>();
  return {data.begin(), data.end()};
}

TEST_F(AnyOrder, WhatIsFinishedComesWhileTheFirstIsWorkedOn) {
  first_may_go = false;
  auto run = start("any", 1);
  std::vector<std::int64_t> came;
  for (const Batch& batch : run->output("out").epoch(0)) {
    for (const std::int64_t value : values_of(batch)) came.push_back(value);
    first_may_go = true;
  }
  EXPECT_TRUE(run->wait().ok());
  ASSERT_EQ(came.size(), 100u);
  EXPECT_NE(came.front(), 0);
  std::sort(came.begin(), came.end());
  std::vector<std::int64_t> all(100);
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(came, all);
}

// Whole batches of several tasks, of which the last of an epoch is short; epochs stay apart.
TEST_F(AnyOrder, EachSampleOfEachEpochComesOnce) {
  auto run = start("any", 8);
  Output out = run->output("out");
  for (const std::uint64_t epoch : {0, 1, 2}) {
    std::map<std::int64_t, int> seen;
    for (const Batch& batch : out.epoch(epoch)) {
      EXPECT_EQ(batch.epoch(), epoch);
      for (const std::int64_t value : values_of(batch)) ++seen[value];
    }
    EXPECT_EQ(seen.size(), 100u);
    for (const auto& [value, times] : seen) EXPECT_EQ(times, 1) << value;
  }
  EXPECT_TRUE(out.ended());
  EXPECT_TRUE(run->wait().ok());
}

TEST_F(AnyOrder, HasNoStateToGoOnFrom) {
  EXPECT_TRUE(start("graph", 8)->state().ok());
  EXPECT_EQ(start("any", 8)->state().error().message,
            "a run of this graph has no state: the program takes the batches of \"out\" as they "
            "finish (`order: any`), so no position describes what it has read");
}

}  // namespace
}  // namespace brigade
