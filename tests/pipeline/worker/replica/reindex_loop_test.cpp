#include "pipeline/worker/replica/reindex_loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipeline/report/audit.h"
#include "tests/support/message_of.h"
#include "tests/support/number_line.h"

namespace brigade {
namespace {

using support::LambdaStage;
using support::Log;
using support::RunLine;

constexpr std::uint64_t kSamples = 100;

/// numbers -> filter -> free -> sink (batches of 8).
class FlatMapStage : public testing::Test {
 protected:
  void build(std::uint64_t epochs = 2, std::uint64_t most = 1) {
    graph_.graph().epochs = epochs;
    graph_.producer("numbers", {support::kValue}).shuffle = true;
    graph_.transform("filter", {"numbers"}, {support::kValue}).replicas = 2;
    graph_.type_of("filter").contract.may_drop = true;
    ValidStage& free = graph_.transform("free", {"filter"}, {support::kValue});
    free.outputs_per_input = most;
    free.on_error = on_error_;
    graph_.type_of("free").contract.numbering = Numbering::flat_map;
    ValidStage& sink = graph_.consumer("sink", {"free"});
    sink.batched = true;
    sink.sources[0].batch = 8;
    run_ = std::make_unique<RunLine>(graph_);
    run_->producers["numbers"] = [](int) { return support::make_numbers(kSamples); };
    run_->stages["filter"] = [](int) {
      return std::make_unique<LambdaStage>([](const Inputs& in, Outputs& out) -> Result<Next> {
        if (support::is_dropped(in.info().id)) return Next::drop;
        out["value"].as<std::int64_t>()[0] = in["value"].as<std::int64_t>()[0];
        return Next::emit;
      });
    };
    run_->stages["sink"] = [this](int replica) { return support::make_logger(log_, replica); };
  }
  void flat_map_by(LambdaStage::Process process) {
    run_->stages["free"] = [process](int) { return std::make_unique<LambdaStage>(process); };
  }
  void run() {
    ASSERT_EQ(message_of(run_->run()), "no error");
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
  OnError on_error_;
  std::unique_ptr<RunLine> run_;
  Log log_;
};

TEST_F(FlatMapStage, MoreOrFewerOutputsThanTheContractAllowsShowInTheAudits) {
  build(1, 2);
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
            "stage free output 160 samples for 80 inputs, expected one for each");
  plan.stages[free].flat_map_outputs = 2;
  run_->queue("free", 0).watermark->level.value = 79;
  run_->queue("sink").watermark->level.value = 79;
  EXPECT_EQ(audit_failure(plan, run_->control()),
            "stage free output 79 samples for 80 inputs, expected 1 to 2 for each");
}

TEST_F(FlatMapStage, GivingNothingNeedsTheContractsLeave) {
  build();
  flat_map_by([](const Inputs&, Outputs& out) -> Result<Next> {
    out.emit_samples(0);
    return Next::emit;
  });
  EXPECT_THAT(message_of(run_->run()), testing::HasSubstr("does not declare may_drop()"));
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

}  // namespace
}  // namespace brigade
