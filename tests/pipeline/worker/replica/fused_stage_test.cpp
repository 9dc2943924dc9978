#include "pipeline/worker/replica/fused_stage.h"

#include <gtest/gtest.h>

#include <numeric>

#include "tests/support/number_line.h"

namespace brigade {
namespace {

using support::LambdaStage;

struct NoParams {};
struct Nothing : Stage {
  Result<Next> process(const Inputs&, Outputs&) override { return Next::emit; }
};

/// grow: value -> list i64[<= 5], as many as value mod 6; sum: list -> total; add: value -> value.
StageTypes example_types() {
  StageTypes types;
  types.add<Nothing>(Contract<NoParams>("grow", "")
                         .transform()
                         .takes(Takes::either)
                         .input("value", {i64}, {}, "")
                         .rest_passes()
                         .outputs([](const NoParams&, const Ports&) -> Result<Ports> {
                           return Ports{{"list", i64, {up_to(5)}}};
                         }));
  types.add<Nothing>(Contract<NoParams>("sum", "")
                         .transform()
                         .takes(Takes::either)
                         .input("list", {i64}, {up_to(5)}, "")
                         .rest_passes()
                         .may_drop()
                         .outputs([](const NoParams&, const Ports&) -> Result<Ports> {
                           return Ports{{"total", i64, {}}};
                         }));
  types.add<Nothing>(Contract<NoParams>("add", "")
                         .transform()
                         .takes(Takes::either)
                         .input("value", {i64}, {}, "")
                         .rest_passes()
                         .outputs([](const NoParams&, const Ports&) -> Result<Ports> {
                           return Ports{{"value", i64, {}}};
                         }));
  return types;
}

std::unique_ptr<Stage> adder(std::int64_t more) {
  return std::make_unique<LambdaStage>([more](const Inputs& in, Outputs& out) -> Result<Next> {
    for (std::int64_t slot = 0; slot < in.samples(); ++slot)
      out.sample(slot)["value"].as<std::int64_t>()[0] =
          in.sample(slot)["value"].as<std::int64_t>()[0] + more;
    return Next::emit;
  });
}

std::unique_ptr<Stage> grower() {
  return std::make_unique<LambdaStage>([](const Inputs& in, Outputs& out) -> Result<Next> {
    const std::int64_t value = in["value"].as<std::int64_t>()[0];
    const auto list = out["list"].resize<std::int64_t>({value % 6});
    std::iota(list->begin(), list->end(), value);
    return Next::emit;
  });
}

std::unique_ptr<Stage> summer() {
  return std::make_unique<LambdaStage>([](const Inputs& in, Outputs& out) -> Result<Next> {
    const auto list = in["list"].as<std::int64_t>();
    if (list.empty()) return Next::drop;
    if (list.size() == 4) return Error{"four is too many"};
    out["total"].as<std::int64_t>()[0] = std::accumulate(list.begin(), list.end(), 0l);
    return Next::emit;
  });
}

/// numbers -> fused stage -> sink, which keeps what it sees by sample id.
class FusedLine {
 public:
  FusedLine(const std::string& links, std::vector<std::function<std::unique_ptr<Stage>()>> bodies,
            Ports outputs, std::uint64_t batch = 0, std::vector<PassedTensor> passed = {}) {
    fused_ = *find_type_or_fused(types_, links, fused_);
    graph_.producer("numbers", {support::kValue});
    ValidStage& stage = graph_.transform("fused", {"numbers"}, std::move(outputs));
    stage.passed = std::move(passed);
    stage.replicas = 2;
    stage.on_error.skip = true;
    stage.on_error.count_max = 100;
    stage.batched = batch > 0;
    stage.sources[0].batch = batch;
    graph_.type_of("fused").contract = fused_.contract;
    graph_.consumer("sink", {"fused"});
    run_ = std::make_unique<support::RunLine>(graph_);
    run_->producers["numbers"] = [](int) { return support::make_numbers(60); };
    run_->stages["fused"] = [this, bodies, batch](int) {
      std::vector<std::unique_ptr<Stage>> made;
      for (const auto& body : bodies) made.push_back(body());
      return std::make_unique<FusedStage>(fused_, std::move(made), "fused", batch > 0);
    };
  }

  /// Tensor `name` by sample id.
  std::map<std::uint64_t, std::vector<std::int64_t>> see(const std::string& name) {
    std::map<std::uint64_t, std::vector<std::int64_t>> seen;
    run_->stages["sink"] = [&](int) {
      return std::make_unique<LambdaStage>([&](const Inputs& in, Outputs&) -> Result<Next> {
        const auto values = in[name].as<std::int64_t>();
        seen[in.info().id] = {values.begin(), values.end()};
        return Next::emit;
      });
    };
    const Result<void> ran = run_->run();
    EXPECT_TRUE(ran.ok()) << ran.error().message;
    return seen;
  }
  support::RunLine& run() { return *run_; }

 private:
  StageTypes types_ = example_types();
  StageType fused_;
  GraphBuilder graph_;
  std::unique_ptr<support::RunLine> run_;
};

TEST(FusedStage, PassesPrivateTensorsFromLinkToLink) {
  FusedLine line("[add, grow, sum]", {[] { return adder(1); }, grower, summer},
                 {{"total", i64, {}}});
  const auto totals = line.see("total");
  for (std::int64_t id = 0; id < 60; ++id) {
    const std::int64_t value = id + 1;
    const std::int64_t size = value % 6;
    const auto found = totals.find(static_cast<std::uint64_t>(id));
    if (size == 0 || size == 4) {  // dropped, or skipped after an error
      EXPECT_EQ(found, totals.end());
      continue;
    }
    ASSERT_NE(found, totals.end()) << id;
    EXPECT_EQ(found->second[0], size * value + size * (size - 1) / 2);
  }
  const auto lines = line.run().reporter.lines();
  ASSERT_FALSE(lines.empty());
  EXPECT_NE(lines[0].find("sum: four is too many"), std::string::npos) << lines[0];
}

TEST(FusedStage, AStagesOwnOutputMayBeRagged) {
  FusedLine line("[add, grow]", {[] { return adder(1); }, grower}, {{"list", i64, {up_to(5)}}});
  const auto lists = line.see("list");
  ASSERT_EQ(lists.size(), 60u);
  for (const auto& [id, list] : lists) EXPECT_EQ(list.size(), (id + 1) % 6);
}

TEST(FusedStage, TheEndOfAnEpochReachesEveryLink) {
  std::atomic<int> ends = 0;
  const auto told = [&]() -> std::unique_ptr<Stage> {
    auto stage = std::make_unique<LambdaStage>([](const Inputs& in, Outputs& out) -> Result<Next> {
      out["value"].as<std::int64_t>()[0] = in["value"].as<std::int64_t>()[0];
      return Next::emit;
    });
    stage->on_epoch_end = [&](const EpochEnd&) -> Result<void> {
      ++ends;
      return {};
    };
    return stage;
  };
  FusedLine line("[add, add]", {told, told}, {{"value", i64, {}}});
  line.see("value");
  EXPECT_EQ(ends, 4);  // two replicas of two links
}

}  // namespace
}  // namespace brigade
