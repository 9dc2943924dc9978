#include "pipeline/worker/replica/task_loop.h"

#include <gtest/gtest.h>

#include <brigade/text.h>
#include "tests/support/number_line.h"

namespace brigade {
namespace {

using support::Event;
using support::Log;
using support::NumberLine;
using support::RunLine;

std::uint64_t period_of(const RunLine& run, const NumberLine& line) {
  return epoch_period(line.samples, run.plan().index_spaces[0].multiple);
}

/// Every epoch has one end per replica, after its calls and before those of later epochs.
void expect_epoch_ends(const std::vector<Event>& events, std::uint64_t epochs, bool alone) {
  std::uint32_t ends = 0;
  for (const Event& event : events) {
    if (event.is_end) {
      EXPECT_EQ(event.epoch, ends);
      ++ends;
    } else if (alone) {
      EXPECT_EQ(event.epoch, ends);
    } else {  // another replica may still be in the epoch before
      EXPECT_GE(event.epoch, ends);
    }
  }
  EXPECT_EQ(ends, epochs);
}

void expect_audit_balances(RunLine& run, const NumberLine& line, std::uint64_t full_slots) {
  const std::string writer = line.batched_mix && line.drops ? "filter" : "numbers";
  EXPECT_EQ(run.audit("mix", "sink").delivered, full_slots);
  EXPECT_EQ(run.audit("mix", "sink").leaked, 0);
  EXPECT_EQ(run.audit(writer, "mix").leaked, 0);
  const std::uint64_t produced = line.samples * line.epochs;
  EXPECT_EQ(run.audit("numbers", line.batched_mix && line.drops ? "filter" : "mix").produced,
            produced);
}

void run_and_compare(const NumberLine& line, WakeOrder order = WakeOrder::by_finisher) {
  SCOPED_TRACE(line.text());
  GraphBuilder graph = support::number_graph(line);
  RunLine run(graph);
  run.control().wake_order = order;
  Log log(static_cast<int>(line.sinks));
  support::fill_number_line(run, line, log);
  const Result<void> ran = run.run();
  ASSERT_TRUE(ran.ok()) << ran.error().message;

  const auto expected = expected_calls(line, period_of(run, line));
  support::expect_same_calls(log.calls("mix"), expected);
  std::uint64_t full_slots = 0;
  for (const Event& call : expected) full_slots += call.samples.size();
  expect_audit_balances(run, line, full_slots);
  for (const auto& events : log.events) expect_epoch_ends(events, line.epochs, line.sinks == 1);

  std::uint64_t counted = 0;
  const PlanStage& sink = run.stage("sink");
  for (int r = 0; r < sink.replicas; ++r) {
    const ReplicaCounters& counters = live_counters(run.control(), sink.first_replica + r);
    counted += counters.samples;
    EXPECT_EQ(counters.epochs, line.epochs);
  }
  EXPECT_EQ(counted, full_slots);
}

struct Widths {
  std::uint64_t producers;
  std::uint64_t mixers;
  std::uint64_t sinks;
};

class LineOfWidths : public testing::TestWithParam<Widths> {};

TEST_P(LineOfWidths, GivesWhatAPlainLoopGives) {
  for (const std::uint64_t batch : {0, 1, 7, 64}) {
    for (const bool drops : {false, true}) {
      for (const bool drop_last : {false, true}) {
        if (drop_last && batch == 0) continue;
        NumberLine line;
        line.producers = GetParam().producers;
        line.mixers = GetParam().mixers;
        line.sinks = GetParam().sinks;
        line.batch = batch;
        line.drops = drops;
        line.drop_last = drop_last;
        run_and_compare(line);
        if (SystemPolicy::join_barriers()) run_and_compare(line, WakeOrder::by_sleeper);
        line.batched_mix = true;
        if (batch > 0 && !drop_last) run_and_compare(line);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, LineOfWidths,
                         testing::Values(Widths{1, 1, 1}, Widths{1, 2, 1}, Widths{2, 4, 1},
                                         Widths{1, 1, 2}, Widths{4, 2, 4}),
                         [](const auto& widths) {
                           return concat(widths.param.producers, "to", widths.param.mixers, "to",
                                         widths.param.sinks);
                         });

TEST(TaskLoop, ADeadReplicasTaskIsDoneByOthersOnce) {
  NumberLine line;
  line.samples = 500;
  line.mixers = 2;
  line.sinks = 1;
  line.batch = 7;
  GraphBuilder graph = support::number_graph(line);
  RunLine run(graph);
  Log log;
  support::fill_number_line(run, line, log);
  std::atomic<int> deaths{0};
  run.stages["mix"] = [&](int) {
    std::shared_ptr<Stage> mix = support::make_mix(false);
    return std::make_unique<support::LambdaStage>(
        [&, mix](const Inputs& in, Outputs& out) -> Result<Next> {
          if (in.info().id % 50 == 3 && deaths++ < 8) return Error{"died"};
          return mix->process(in, out);
        });
  };
  run.restarts_max = 8;
  const Result<void> ran = run.run();
  ASSERT_TRUE(ran.ok()) << ran.error().message;
  EXPECT_EQ(run.restarts(), 8);
  support::expect_same_calls(log.calls("mix"), expected_calls(line, period_of(run, line)));
  EXPECT_EQ(run.audit("numbers", "mix").leaked, 0);
}

TEST(TaskLoop, AnErrorNamesStageReplicaAndSample) {
  NumberLine line;
  line.shuffle = false;
  GraphBuilder graph = support::number_graph(line);
  RunLine run(graph);
  Log log;
  support::fill_number_line(run, line, log);
  run.stages["mix"] = [&](int) {
    return std::make_unique<support::LambdaStage>([](const Inputs& in, Outputs&) -> Result<Next> {
      if (in.info().id == 77) throw std::runtime_error("bad pixel\nbacktrace");
      return Next::emit;
    });
  };
  const Result<void> ran = run.run();
  ASSERT_FALSE(ran.ok());
  EXPECT_EQ(ran.error().message, "sample 77 (id 77 of epoch 0): bad pixel");
}

TEST(TaskLoop, WaitsAreCountedByCause) {
  NumberLine line;
  line.samples = 64;
  line.epochs = 1;
  GraphBuilder graph = support::number_graph(line);
  RunLine run(graph);
  Log log;
  support::fill_number_line(run, line, log);
  const ReplicaCounters& mix = live_counters(run.control(), run.stage("mix").first_replica);
  const ReplicaCounters& sink = live_counters(run.control(), run.stage("sink").first_replica);
  const auto slow = [&](const Inputs& in, Outputs&) -> Result<Next> {
    if (in.info().index != 0) return Next::emit;
    while (sink.waiting != static_cast<std::uint64_t>(Waiting::input)) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return Next::emit;
  };
  run.stages["mix"] = [&](int) { return std::make_unique<support::LambdaStage>(slow); };
  ASSERT_TRUE(run.run().ok());
  EXPECT_GE(mix.busy_ns, 20'000'000u);
  EXPECT_GE(sink.wait_in_ns, 10'000'000u);
  EXPECT_GT(sink.first_sample_ns, mix.first_sample_ns);
  EXPECT_EQ(sink.waiting, static_cast<std::uint64_t>(Waiting::no));
}

}  // namespace
}  // namespace brigade
