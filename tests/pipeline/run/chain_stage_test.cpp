#include "pipeline/run/chain_stage.h"

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

/// grow: value -> list i64[<= 5], as many as value mod 6; sum: list -> total; add: value -> value;
/// pair: value -> value, twice.
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
  types.add<Nothing>(Contract<NoParams>("pair", "")
                         .transform()
                         .input("value", {i64}, {}, "")
                         .rest_passes()
                         .outputs([](const NoParams&, const Ports&) -> Result<Ports> {
                           return Ports{{"value", i64, {}}, {"twice", i64, {}}};
                         }));
  return types;
}

std::unique_ptr<Stage> pairer() {
  return std::make_unique<LambdaStage>([](const Inputs& in, Outputs& out) -> Result<Next> {
    out["value"].as<std::int64_t>()[0] = in["value"].as<std::int64_t>()[0];
    out["twice"].as<std::int64_t>()[0] = 2 * in["value"].as<std::int64_t>()[0];
    return Next::emit;
  });
}

std::unique_ptr<Stage> adder(std::int64_t more) {
  return std::make_unique<LambdaStage>([more](const Inputs& in, Outputs& out) -> Result<Next> {
    for (std::int64_t row = 0; row < in.rows(); ++row)
      out.row(row)["value"].as<std::int64_t>()[0] =
          in.row(row)["value"].as<std::int64_t>()[0] + more;
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

/// numbers -> chain -> sink, which keeps what it sees by sample id.
class ChainLine {
 public:
  ChainLine(const std::string& links, std::vector<std::function<std::unique_ptr<Stage>()>> bodies,
            Ports outputs, std::uint64_t batch = 0, std::vector<PassedTensor> passed = {}) {
    chain_ = *find_type_or_chain(types_, links, chain_);
    graph_.producer("numbers", {support::kValue});
    ValidStage& stage = graph_.transform("chain", {"numbers"}, std::move(outputs));
    stage.passed = std::move(passed);
    stage.replicas = 2;
    stage.on_error.skip = true;
    stage.on_error.count_max = 100;
    stage.batched = batch > 0;
    stage.sources[0].batch = batch;
    graph_.type_of("chain").contract = chain_.contract;
    graph_.consumer("sink", {"chain"});
    run_ = std::make_unique<support::RunLine>(graph_);
    run_->producers["numbers"] = [](int) { return support::make_numbers(60); };
    run_->stages["chain"] = [this, bodies, batch](int) {
      std::vector<std::unique_ptr<Stage>> made;
      for (const auto& body : bodies) made.push_back(body());
      return std::make_unique<ChainStage>(chain_, std::move(made), "chain", batch > 0);
    };
  }

  /// Tensor `name` by sample id.
  std::map<std::uint64_t, std::vector<std::int64_t>> see(const std::string& name) {
    std::map<std::uint64_t, std::vector<std::int64_t>> seen;
    run_->stages["sink"] = [&](int) {
      return std::make_unique<LambdaStage>([&](const Inputs& in, Outputs&) -> Result<Next> {
        const auto values = in[name].as<std::int64_t>();
        seen[in.sample().id] = {values.begin(), values.end()};
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
  StageType chain_;
  GraphBuilder graph_;
  std::unique_ptr<support::RunLine> run_;
};

TEST(ChainStage, PassesPrivateTensorsFromLinkToLink) {
  ChainLine line("[add, grow, sum]", {[] { return adder(1); }, grower, summer},
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

TEST(ChainStage, WhatIsMadeEarlyAndStaysLiesInTheRow) {
  ChainLine line("[pair, add]", {pairer, [] { return adder(1); }},
                 {{"value", i64, {}}, {"twice", i64, {}}});
  const auto seen = line.see("twice");
  EXPECT_EQ(seen.size(), 60u);
  for (const auto& [id, twice] : seen)
    EXPECT_EQ(twice, std::vector<std::int64_t>{2 * static_cast<std::int64_t>(id)});
}

TEST(ChainStage, AStagesOwnOutputMayBeRagged) {
  ChainLine line("[add, grow]", {[] { return adder(1); }, grower}, {{"list", i64, {up_to(5)}}});
  const auto lists = line.see("list");
  ASSERT_EQ(lists.size(), 60u);
  for (const auto& [id, list] : lists) EXPECT_EQ(list.size(), (id + 1) % 6);
}

TEST(ChainStage, ALaterLinkMayWriteTheSameTensorAgain) {
  for (const std::uint64_t batch : {0u, 7u}) {
    ChainLine line("[add, add]", {[] { return adder(1); }, [] { return adder(100); }},
                   {{"value", i64, {}}}, batch);
    const auto values = line.see("value");
    ASSERT_EQ(values.size(), 60u);
    for (const auto& [id, value] : values) EXPECT_EQ(value[0], static_cast<std::int64_t>(id) + 101);
  }
}

TEST(ChainStage, EachLinkDrawsFromItsOwnStream) {
  std::vector<std::uint64_t> streams;
  const auto opener = [&]() -> std::unique_ptr<Stage> {
    auto stage = std::make_unique<LambdaStage>([](const Inputs& in, Outputs& out) -> Result<Next> {
      out["value"].as<std::int64_t>()[0] = static_cast<std::int64_t>(in.random().below(1000));
      return Next::emit;
    });
    stage->on_open = [&](const OpenContext& context) -> Result<void> {
      streams.push_back(context.stream);
      return {};
    };
    return stage;
  };
  ChainLine line("[add, add]", {opener, opener}, {{"value", i64, {}}});
  const auto values = line.see("value");
  EXPECT_EQ(streams[0], stream_id("chain/add"));
  EXPECT_EQ(streams[1], stream_id("chain/add#2"));
  for (const auto& [id, value] : values)
    EXPECT_EQ(value[0],
              static_cast<std::int64_t>(Philox(0, stream_id("chain/add#2"), 0, id).below(1000)));
}

TEST(ChainStage, TheEndOfAnEpochReachesEveryLink) {
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
  ChainLine line("[add, add]", {told, told}, {{"value", i64, {}}});
  line.see("value");
  EXPECT_EQ(ends, 4);  // two replicas of two links
}

}  // namespace
}  // namespace brigade
