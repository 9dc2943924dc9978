#include <gtest/gtest.h>

#include <atomic>
#include <chrono>

#include "tests/support/number_line.h"

namespace brigade {
namespace {

using support::LambdaStage;
using support::RunLine;
using namespace std::chrono_literals;

/// What a stream does, call by call: a number is a sample, the others a Next.
struct Script {
  std::vector<Result<Next>> answers;
  std::size_t at = 0;
  std::int64_t emitted = 0;

  Result<Next> next(Outputs& out) {
    if (at == answers.size()) return Next::end;
    Result<Next> answer = answers[at++];
    if (answer.ok() && *answer == Next::emit) out["value"].as<std::int64_t>()[0] = emitted++;
    return answer;
  }
};

/// feed (a stream) -> mix (two replicas) -> sink (batches of 8, in order).
class Stream : public testing::Test {
 protected:
  void build(std::int64_t max_wait_ns = 5'000'000) {
    graph_.producer("feed", {support::kValue});
    graph_.type_of("feed").indexed = false;
    graph_.type_of("feed").contract.may_drop = true;
    ValidStage& mix = graph_.transform("mix", {"feed"}, {support::kValue});
    mix.replicas = 2;
    mix.batch = 8;
    ValidStage& sink = graph_.consumer("sink", {"mix"});
    sink.batched = true;
    sink.sources[0].batch = 8;
    sink.sources[0].max_wait_ns = max_wait_ns;
    run_ = std::make_unique<RunLine>(graph_);
    run_->stages["mix"] = [](int) {
      return std::make_unique<LambdaStage>([](const Inputs& in, Outputs& out) -> Result<Next> {
        out["value"].as<std::int64_t>()[0] = in["value"].as<std::int64_t>()[0] * 10;
        return Next::emit;
      });
    };
    run_->stages["sink"] = [this](int) {
      return std::make_unique<LambdaStage>([this](const Inputs& in, Outputs&) -> Result<Next> {
        const auto values = in["value"].as<std::int64_t>();
        calls_.emplace_back(values.begin(), values.end());
        seen_ += in.samples();
        return Next::emit;
      });
    };
  }
  void feed(std::function<Result<Next>(Outputs&)> next) {
    run_->stages["feed"] = [next](int) {
      return std::make_unique<LambdaStage>(
          [next](const Inputs&, Outputs& out) { return next(out); });
    };
  }
  void play(std::vector<Result<Next>> answers) {
    script_.answers = std::move(answers);
    feed([this](Outputs& out) { return script_.next(out); });
  }
  void run() {
    const Result<void> ran = run_->run();
    ASSERT_TRUE(ran.ok()) << ran.error().message;
    for (const auto& [writer, reader] : {std::pair("feed", "mix"), std::pair("mix", "sink")}) {
      const EdgeAudit audit = run_->audit(writer, reader);
      EXPECT_EQ(audit.leaked, 0);
      EXPECT_EQ(audit.delivered, seen_.load());
    }
  }
  GraphBuilder graph_;
  std::unique_ptr<RunLine> run_;
  Script script_;
  std::vector<std::vector<std::int64_t>> calls_;
  std::atomic<std::uint64_t> seen_ = 0;
};

TEST_F(Stream, ABatchThatNobodyFillsIsClosed) {
  build(1'000'000);
  play({Next::emit, Next::emit});
  // It says `end` only when both samples have arrived: else this hangs.
  feed([this](Outputs& out) -> Result<Next> {
    if (script_.at < 2) return script_.next(out);
    return seen_ < 2 ? Next::wait : Next::end;
  });
  run();
  EXPECT_EQ(calls_, (std::vector<std::vector<std::int64_t>>{{0, 10}}));
}

TEST_F(Stream, SamplesThatComeInTimeShareABatch) {
  build(60'000'000'000);
  play({Next::wait, Next::emit, Next::wait, Next::wait, Next::emit, Next::wait, Next::emit});
  run();
  EXPECT_EQ(calls_, (std::vector<std::vector<std::int64_t>>{{0, 10, 20}}));
}

TEST_F(Stream, WaitingUsesNoCpu) {
  build();
  std::atomic<int> calls = 0;
  const auto start = std::chrono::steady_clock::now();
  feed([&](Outputs&) -> Result<Next> {
    ++calls;
    return std::chrono::steady_clock::now() - start < 300ms ? Next::wait : Next::end;
  });
  run();
  // Pauses double from 50 us to 2 ms: about 155 calls; 100,000 without pauses.
  EXPECT_LT(calls, 2000);
}

}  // namespace
}  // namespace brigade
