#include "pipeline/worker/replica/reindex_loop.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <set>

#include "pipeline/memory/init_words.h"
#include "pipeline/report/audit.h"
#include "tests/support/number_line.h"

namespace brigade {
namespace {

using support::LambdaStage;
using support::Log;
using support::RunLine;
using namespace std::chrono_literals;

constexpr std::uint64_t kSamples = 100;

/// numbers (and others, of 40) -> filter -> free -> sink (batches of 8).
class FlatMapStage : public testing::Test {
 protected:
  void build(std::uint64_t epochs = 2, bool two_sources = false, std::uint64_t most = 1) {
    graph_.graph().epochs = epochs;
    graph_.producer("numbers", {support::kValue}).shuffle = true;
    if (two_sources) graph_.producer("others", {support::kValue});
    graph_.transform("filter", {"numbers"}, {support::kValue}).replicas = 2;
    graph_.type_of("filter").contract.may_drop = true;
    ValidStage& free =
        two_sources ? graph_.transform("free", {"filter", "others"}, {support::kValue}, Join::merge)
                    : graph_.transform("free", {"filter"}, {support::kValue});
    free.outputs_per_input = most;
    free.on_error = on_error_;
    graph_.type_of("free").contract.numbering = Numbering::flat_map;
    ValidStage& sink = graph_.consumer("sink", {"free"});
    sink.batched = true;
    sink.sources[0].batch = 8;
    run_ = std::make_unique<RunLine>(graph_, nullptr, past_);
    run_->producers["numbers"] = [](int) { return support::make_numbers(kSamples); };
    run_->producers["others"] = [](int) {
      return std::make_unique<support::LambdaProducer>(
          40, [](std::uint64_t index, Outputs& out) -> Result<Next> {
            out["value"].as<std::int64_t>()[0] = 1000 + static_cast<std::int64_t>(index);
            return Next::emit;
          });
    };
    run_->stages["filter"] = [](int) {
      return std::make_unique<LambdaStage>([](const Inputs& in, Outputs& out) -> Result<Next> {
        if (support::is_dropped(in.info().id)) return Next::drop;
        out["value"].as<std::int64_t>()[0] = in["value"].as<std::int64_t>()[0];
        return Next::emit;
      });
    };
    run_->stages["sink"] = [this](int replica) { return support::make_logger(log_, replica); };
    flat_map_by([](const Inputs& in, Outputs& out) -> Result<Next> {
      out["value"].as<std::int64_t>()[0] = in["value"].as<std::int64_t>()[0];
      return Next::emit;
    });
  }
  void flat_map_by(LambdaStage::Process process) {
    run_->stages["free"] = [this, process](int) {
      auto stage = std::make_unique<LambdaStage>(process);
      stage->on_epoch_end = [this](const EpochEnd& end) {
        flat_map_ends_.push_back(end.epoch);
        return Result<void>();
      };
      return stage;
    };
  }
  void run() {
    const Result<void> ran = run_->run();
    ASSERT_TRUE(ran.ok()) << ran.error().message;
    EXPECT_EQ(audit_failure(run_->plan(), run_->control()), std::nullopt);
  }
  /// What the sink saw in an epoch.
  std::vector<std::int64_t> seen(std::uint32_t epoch) const {
    std::vector<std::int64_t> all;
    for (const support::Event& event : log_.events[0])
      if (!event.is_end && event.epoch == epoch)
        all.insert(all.end(), event.values.begin(), event.values.end());
    return all;
  }
  std::vector<std::size_t> batches() const {
    std::vector<std::size_t> sizes;
    for (const support::Event& event : log_.events[0])
      if (!event.is_end) sizes.push_back(event.samples.size());
    return sizes;
  }
  /// The filter's samples of an epoch, in their order.
  std::vector<std::int64_t> filtered(std::uint32_t epoch) const {
    const Permutation order(kSamples, graph_.graph().seed, epoch);
    std::vector<std::int64_t> all;
    for (std::uint64_t index = 0; index < kSamples; ++index)
      if (!support::is_dropped(order(index)))
        all.push_back(static_cast<std::int64_t>(order(index)));
    return all;
  }

  mutable GraphBuilder graph_;
  std::function<void(const Plan&, ResumePoint&)> past_;
  OnError on_error_;
  std::unique_ptr<RunLine> run_;
  Log log_;
  std::vector<std::uint32_t> flat_map_ends_;
};

using Sizes = std::vector<std::size_t>;

// Of a resumed run: its source begins with epoch 0 for others, its own reader with epoch 2.
TEST_F(FlatMapStage, EpochsBeforeTheOneItBeginsWithAreDropped) {
  past_ = [](const Plan& plan, ResumePoint& resume) {
    for (const StageNumber s : plan.stages.numbers()) {
      const PlanStage& stage = plan.stages[s];
      if (stage.name != "free") continue;
      const IndexSpaceNumber source = stage.queues[1].index_space;
      resume.stages[s].queues[1].at =
          2 * epoch_period(kSamples, plan.index_spaces[source].multiple);
      resume.stages[s].epoch_ends_told = 2;
      resume.index_spaces[stage.queues[0].index_space].first_epoch = 2;
    }
  };
  build(4);
  begin_at(run_->plan(), run_->resume(), run_->control());
  run();
  EXPECT_TRUE(seen(0).empty());
  EXPECT_TRUE(seen(1).empty());
  for (const std::uint32_t epoch : {2u, 3u}) EXPECT_EQ(seen(epoch), filtered(epoch));
  EXPECT_EQ(batches(), Sizes(20, 8));
  EXPECT_EQ(flat_map_ends_, (std::vector<std::uint32_t>{2, 3}));
  const EdgeAudit before = run_->audit("filter", "free", 1);
  EXPECT_EQ(before.produced, 160u);
  EXPECT_EQ(before.delivered, 160u);
}

TEST_F(FlatMapStage, MoreOrFewerOutputsThanTheContractAllowsShowInTheAudits) {
  build(1, false, 2);
  flat_map_by([](const Inputs&, Outputs& out) -> Result<Next> {
    for (std::int64_t i : {0, 1}) out.sample(i)["value"].as<std::int64_t>()[0] = i;
    out.emit_samples(2);
    return Next::emit;
  });
  run();
  Plan plan = run_->plan();
  const StageNumber free = run_->index("free");
  plan.stages[free].flat_map_outputs = 1;
  EXPECT_EQ(audit_failure(plan, run_->control()),
            "stage free made 160 samples of 80, expected as many");
  plan.stages[free].flat_map_outputs = 2;
  run_->queue("free", 0).watermark->level.value = 79;
  run_->queue("sink").watermark->level.value = 79;
  EXPECT_EQ(audit_failure(plan, run_->control()),
            "stage free made 79 samples of 80, expected 1 to 2 of each");
}

TEST_F(FlatMapStage, GivingNothingNeedsTheContractsLeave) {
  build();
  flat_map_by([](const Inputs&, Outputs& out) -> Result<Next> {
    out.emit_samples(0);
    return Next::emit;
  });
  const Result<void> ran = run_->run();
  ASSERT_FALSE(ran.ok());
  EXPECT_NE(ran.error().message.find("does not say may_drop()"), std::string::npos)
      << ran.error().message;
}

TEST_F(FlatMapStage, SamplesThatFailVanishAndAreCounted) {
  on_error_ = {true, 1000, 0};
  build();
  flat_map_by([](const Inputs& in, Outputs& out) -> Result<Next> {
    const std::int64_t value = in["value"].as<std::int64_t>()[0];
    if (value % 10 == 3) return Error{"bad"};
    out["value"].as<std::int64_t>()[0] = value;
    return Next::emit;
  });
  run();
  std::vector<std::int64_t> expected = filtered(1);
  std::erase_if(expected, [](std::int64_t value) { return value % 10 == 3; });
  EXPECT_EQ(seen(1), expected);
  EXPECT_EQ(run_->audit("filter", "free", 1).dropped, 20u);
}

TEST_F(FlatMapStage, AMergeGivesEverySampleOfAnEpochBeforeTheNext) {
  build(3, true);
  run();
  std::vector<std::int64_t> others;
  for (std::int64_t i = 0; i < 40; ++i) others.push_back(1000 + i);
  std::uint32_t last = 0;
  for (const support::Event& event : log_.events[0]) {
    if (!event.is_end) {
      EXPECT_GE(event.epoch, last);
    }
    last = event.epoch;
  }
  for (const std::uint32_t epoch : {0u, 1u, 2u}) {
    std::vector<std::int64_t> of_numbers;
    std::vector<std::int64_t> of_others;
    for (const std::int64_t value : seen(epoch))
      (value < 1000 ? of_numbers : of_others).push_back(value);
    EXPECT_EQ(of_numbers, filtered(epoch));
    EXPECT_EQ(of_others, others);
  }
  EXPECT_EQ(batches(), Sizes(45, 8));
}

TEST_F(FlatMapStage, SamplesOfDifferentSourcesHaveDifferentIds) {
  build(1, true);
  run();
  std::set<std::uint64_t> ids;
  for (const support::Event& event : log_.events[0])
    for (const SampleInfo& slot : event.samples) ids.insert(slot.id);
  EXPECT_EQ(ids.size(), 120u);
}

/// The free stage dies again and again, at other samples each time.
TEST_F(FlatMapStage, ASuccessorNeitherLosesNorRepeatsAnOutput) {
  build(2, true, 3);
  std::uint64_t calls = 0;
  run_->restarts_max = 40;
  flat_map_by([&](const Inputs& in, Outputs& out) -> Result<Next> {
    if (++calls % 9 == 0) return Error{"died"};
    const std::int64_t value = in["value"].as<std::int64_t>()[0];
    for (std::int64_t i = 0; i < 1 + value % 3; ++i)
      out.sample(i)["value"].as<std::int64_t>()[0] = value * 10 + i;
    out.emit_samples(1 + value % 3);
    return Next::emit;
  });
  run();
  EXPECT_GT(run_->restarts(), 20);
  for (const std::uint32_t epoch : {0u, 1u}) {
    std::vector<std::int64_t> expected;
    std::vector<std::int64_t> inputs = filtered(epoch);
    for (std::int64_t i = 0; i < 40; ++i) inputs.push_back(1000 + i);
    for (const std::int64_t value : inputs)
      for (std::int64_t i = 0; i < 1 + value % 3; ++i) expected.push_back(value * 10 + i);
    std::vector<std::int64_t> got = seen(epoch);
    std::sort(got.begin(), got.end());
    std::sort(expected.begin(), expected.end());
    EXPECT_EQ(got, expected);
  }
}

TEST_F(FlatMapStage, AStopDrainsThroughIt) {
  build(1000, true);
  std::atomic<int> calls = 0;
  std::atomic<bool> stopped = false;
  flat_map_by([&](const Inputs& in, Outputs& out) -> Result<Next> {
    for (++calls; calls >= 1000 && !stopped;) std::this_thread::sleep_for(1ms);
    out["value"].as<std::int64_t>()[0] = in["value"].as<std::int64_t>()[0];
    return Next::emit;
  });
  run_->while_running = [&] {
    while (calls < 1000) std::this_thread::sleep_for(1ms);
    ask_stop(run_->control());
    stopped = true;
    while (!all_acknowledged<SystemPolicy>(run_->control(), [](int) { return false; }))
      std::this_thread::sleep_for(1ms);
    for (const IndexSpaceNumber d : run_->plan().index_spaces.numbers())
      lower_end(run_->control(), d, run_->plan().index_spaces[d].multiple);
  };
  run();
  const EdgeAudit after = run_->audit("free", "sink");
  EXPECT_EQ(after.delivered, run_->audit("filter", "free", 1).delivered +
                                 run_->audit("others", "free", 2).delivered);
  EXPECT_EQ(after.leaked, 0);
  EXPECT_LT(after.delivered, 120'000u);
}

TEST_F(FlatMapStage, AnErrorEndsTheOthersToo) {
  build(1000);
  std::atomic<int> calls = 0;
  run_->stages["sink"] = [&](int) {
    return std::make_unique<LambdaStage>([&](const Inputs&, Outputs&) -> Result<Next> {
      if (++calls == 3) return Error{"full"};
      return Next::emit;
    });
  };
  const Result<void> ran = run_->run();  // or it hangs
  ASSERT_FALSE(ran.ok());
}

}  // namespace
}  // namespace brigade
