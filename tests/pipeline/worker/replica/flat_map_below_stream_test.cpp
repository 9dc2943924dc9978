// Stages of a flat_map below a stream.

#include <gtest/gtest.h>

#include <atomic>

#include "tests/support/number_line.h"

namespace brigade {
namespace {

using support::LambdaStage;
using support::RunLine;

/// feed (a stream) -> free -> sink (batches of 8).
class FlatMapBelowAStream : public testing::Test {
 protected:
  void build(std::int64_t max_wait_ns, std::uint64_t epochs) {
    graph_.graph().epochs = epochs;
    graph_.producer("feed", {support::kValue});
    graph_.type_of("feed").indexed = false;
    graph_.transform("free", {"feed"}, {support::kValue});
    graph_.type_of("free").contract.numbering = Numbering::flat_map;
    ValidStage& sink = graph_.consumer("sink", {"free"});
    sink.batched = true;
    sink.sources[0].batch = 8;
    sink.sources[0].max_wait_ns = max_wait_ns;
    run_ = std::make_unique<RunLine>(graph_);
    run_->stages["free"] = [](int) {
      return std::make_unique<LambdaStage>([](const Inputs& in, Outputs& out) -> Result<Next> {
        out["value"].as<std::int64_t>()[0] = in["value"].as<std::int64_t>()[0];
        return Next::emit;
      });
    };
    run_->stages["sink"] = [this](int) {
      auto stage =
          std::make_unique<LambdaStage>([this](const Inputs& in, Outputs&) -> Result<Next> {
            calls_.push_back(static_cast<std::size_t>(in.samples()));
            seen_ += in.samples();
            return Next::emit;
          });
      stage->on_epoch_end = [this](const EpochEnd&) {
        calls_.push_back(0);
        return Result<void>();
      };
      return stage;
    };
  }

  GraphBuilder graph_;
  std::unique_ptr<RunLine> run_;
  std::vector<std::size_t> calls_;
  std::atomic<std::int64_t> seen_ = 0;
};

TEST_F(FlatMapBelowAStream, EpochsEndWhereTheStreamSaysSo) {
  build(60'000'000'000, 3);
  std::int64_t given = 0;
  const std::vector<std::int64_t> sizes{20, 0, 8};
  std::size_t epoch = 0;
  run_->stages["feed"] = [&](int) {
    auto stage = std::make_unique<LambdaStage>([&](const Inputs&, Outputs& out) -> Result<Next> {
      if (given == sizes[epoch]) return Next::end;
      out["value"].as<std::int64_t>()[0] = given++;
      return Next::emit;
    });
    stage->on_epoch_end = [&](const EpochEnd&) {
      ++epoch;
      given = 0;
      return Result<void>();
    };
    return stage;
  };
  ASSERT_TRUE(run_->run().ok());
  EXPECT_EQ(calls_, (std::vector<std::size_t>{8, 8, 4, 0, 0, 8, 0}));
}

TEST_F(FlatMapBelowAStream, ABatchThatTheStreamClosesIsClosedBelowIt) {
  build(1'000'000, 1);
  std::int64_t given = 0;
  run_->stages["feed"] = [&](int) {
    return std::make_unique<LambdaStage>([&](const Inputs&, Outputs& out) -> Result<Next> {
      if (given == 3) return seen_ < 3 ? Next::wait : Next::end;  // else this hangs
      out["value"].as<std::int64_t>()[0] = given++;
      return Next::emit;
    });
  };
  ASSERT_TRUE(run_->run().ok());
  EXPECT_EQ(calls_, (std::vector<std::size_t>{3, 0}));
}

}  // namespace
}  // namespace brigade
