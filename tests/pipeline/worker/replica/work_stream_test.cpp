// Streams, of one replica and of several: when a batch is closed, and how they end. Streams of
// one replica in whole graphs are tested by conformance.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>

#include "tests/support/number_line.h"

namespace brigade {
namespace {

using support::LambdaStage;
using support::RunLine;
using namespace std::chrono_literals;

/// feed (a stream) -> mix (two replicas) -> sink (batches of 8, in order). Of several replicas,
/// which give tasks of 4, the sink reads the feed itself. What replica r gives is by_(r).
class Stream : public testing::Test {
 protected:
  void build(int replicas = 1, std::int64_t max_wait_ns = 5'000'000) {
    ValidStage& feed = graph_.producer("feed", {support::kValue});
    graph_.type_of("feed").indexed = false;
    graph_.type_of("feed").contract.may_drop = true;
    feed.replicas = replicas;
    if (replicas > 1) feed.batch = 8;
    if (replicas > 1) feed.chunk = 4;
    if (replicas == 1) {
      ValidStage& mix = graph_.transform("mix", {"feed"}, {support::kValue});
      mix.replicas = 2;
      mix.batch = 8;
    }
    source_ = replicas == 1 ? "mix" : "feed";
    ValidStage& sink = graph_.consumer("sink", {source_});
    sink.batched = true;
    sink.sources[0].batch = 8;
    sink.sources[0].max_wait_ns = max_wait_ns;
    run_ = std::make_unique<RunLine>(graph_);
    run_->stages["feed"] = [this](int replica) {
      auto stage = ends_counted(
          feed_ends_, [this, replica](const Inputs&, Outputs& out) { return by_(replica, out); });
      stage->on_open = [this, replica](const OpenContext& context) -> Result<void> {
        given_[replica] = static_cast<std::int64_t>(context.samples_done);
        return {};
      };
      return stage;
    };
    run_->stages["mix"] = [](int) {
      return std::make_unique<LambdaStage>([](const Inputs& in, Outputs& out) -> Result<Next> {
        out["value"].as<std::int64_t>()[0] = in["value"].as<std::int64_t>()[0];
        return Next::emit;
      });
    };
    run_->stages["sink"] = [this](int) {
      return ends_counted(sink_ends_, [this](const Inputs& in, Outputs&) -> Result<Next> {
        const auto values = in["value"].as<std::int64_t>();
        calls_.emplace_back(values.begin(), values.end());
        for (std::int64_t slot = 0; slot < in.samples(); ++slot)
          EXPECT_EQ(in.info(slot).number, in.info(slot).index);
        seen_ += in.samples();
        return Next::emit;
      });
    };
  }
  static std::unique_ptr<LambdaStage> ends_counted(std::atomic<int>& ends,
                                                   LambdaStage::Process process) {
    auto stage = std::make_unique<LambdaStage>(std::move(process));
    stage->on_epoch_end = [&ends](const EpochEnd&) -> Result<void> {
      ++ends;
      return {};
    };
    return stage;
  }
  void run() {
    const Result<void> ran = run_->run();
    ASSERT_TRUE(ran.ok()) << ran.error().message;
    const EdgeAudit audit = run_->audit(source_, "sink");
    EXPECT_EQ(audit.leaked, 0);
    EXPECT_EQ(audit.produced, seen_.load());
    EXPECT_EQ(audit.delivered, seen_.load());
  }
  /// Replica r gives r * 1000, r * 1000 + 1, ...; `sizes` of each.
  Result<Next> count_up(const std::vector<std::int64_t>& sizes, int replica, Outputs& out) {
    std::int64_t& at = given_[replica];
    if (at == sizes[replica]) return Next::end;
    out["value"].as<std::int64_t>()[0] = replica * 1000 + at++;
    return Next::emit;
  }
  /// Every value once, those of a replica in its order.
  void expect_seen(const std::vector<std::int64_t>& sizes) const {
    std::vector<std::int64_t> next(sizes.size(), 0);
    for (const auto& call : calls_)
      for (const std::int64_t value : call) EXPECT_EQ(value % 1000, next[value / 1000]++);
    EXPECT_EQ(next, sizes);
  }

  GraphBuilder graph_;
  std::unique_ptr<RunLine> run_;
  std::string source_;
  std::function<Result<Next>(int, Outputs&)> by_;
  std::vector<std::int64_t> given_ = std::vector<std::int64_t>(3, 0);
  std::vector<std::vector<std::int64_t>> calls_;
  std::atomic<std::uint64_t> seen_ = 0;
  std::atomic<int> feed_ends_ = 0;
  std::atomic<int> sink_ends_ = 0;
};

// Of several, the task of 4 holds them, and the batch needs another, which nobody would claim.
class StreamOfReplicas : public Stream, public testing::WithParamInterface<int> {};

TEST_P(StreamOfReplicas, ClosesABatchThatNobodyFills) {
  build(GetParam(), 1'000'000);
  const std::vector<std::int64_t> sizes{3, 0, 0};
  // It says `end` only when all samples have arrived: else this hangs.
  by_ = [&](int replica, Outputs& out) -> Result<Next> {
    if (replica == 0 && given_[0] == 3 && seen_ < 3) return Next::wait;
    return count_up(sizes, replica, out);
  };
  run();
  expect_seen(sizes);
}

INSTANTIATE_TEST_SUITE_P(Number, StreamOfReplicas, testing::Values(1, 3));

TEST_F(Stream, SamplesThatComeInTimeShareABatch) {
  build(1, 60'000'000'000);
  std::vector<Next> script = {Next::emit, Next::wait, Next::emit, Next::wait,
                              Next::wait, Next::emit, Next::wait};
  by_ = [&](int, Outputs& out) -> Result<Next> {
    if (script.empty()) return Next::end;
    const Next next = script.back();
    script.pop_back();
    return next == Next::emit ? count_up({100}, 0, out) : next;
  };
  run();
  EXPECT_EQ(calls_, (std::vector<std::vector<std::int64_t>>{{0, 1, 2}}));
}

// The one who recorded it died with its task: all samples before the end come again.
TEST_F(Stream, NoWaitClosesABatchWhoseEndIsRecorded) {
  build(1, 1'000'000);
  int waits = 0;
  by_ = [&](int, Outputs& out) -> Result<Next> {
    if (given_[0] == 1 && ++waits < 20) return Next::wait;  // longer than 1 ms
    return count_up({3}, 0, out);
  };
  run_->control().epoch_ends[0].record(0, run_->plan().index_spaces[0].multiple);
  run();
  EXPECT_EQ(calls_, (std::vector<std::vector<std::int64_t>>{{0, 1, 2}}));
}

TEST_F(Stream, WaitingUsesNoCpu) {
  build();
  std::atomic<int> calls = 0;
  const auto start = std::chrono::steady_clock::now();
  by_ = [&](int, Outputs&) -> Result<Next> {
    ++calls;
    return std::chrono::steady_clock::now() - start < 300ms ? Next::wait : Next::end;
  };
  run();
  // Pauses double from 50 us to 2 ms: about 155 calls; 100,000 without pauses.
  EXPECT_LT(calls, 2000);
}

TEST_F(Stream, OfSeveralEndsWhenEveryReplicaIsAtItsEnd) {
  const std::vector<std::int64_t> sizes{500, 7, 0};
  build(3);
  by_ = [&](int replica, Outputs& out) { return count_up(sizes, replica, out); };
  run();
  expect_seen(sizes);
  EXPECT_EQ(sink_ends_, 1);
  EXPECT_EQ(feed_ends_, 3);
}

// The replica that is started again goes on after what it has published.
TEST_F(Stream, OfSeveralLosesAndRepeatsNoSampleWhereReplicasDie) {
  const std::vector<std::int64_t> sizes{200, 150, 100};
  build(3);
  run_->restarts_max = 20;
  std::atomic<int> calls = 0;
  by_ = [&](int replica, Outputs& out) -> Result<Next> {
    if (++calls % 50 == 0) return Error{"died"};
    return count_up(sizes, replica, out);
  };
  run();
  EXPECT_GT(run_->restarts(), 3);
  // A task that a dead replica had claimed may be taken late, by one that is further on.
  std::vector<std::int64_t> all;
  for (const auto& call : calls_) all.insert(all.end(), call.begin(), call.end());
  std::sort(all.begin(), all.end());
  calls_ = {all};
  expect_seen(sizes);
}

TEST_F(Stream, OfSeveralIsEndedByAStop) {
  build(3);
  std::atomic<std::int64_t> next = 0;
  by_ = [&](int, Outputs& out) -> Result<Next> {
    out["value"].as<std::int64_t>()[0] = next++;
    return Next::emit;  // for ever
  };
  run_->while_running = [&] {
    while (seen_ < 100) std::this_thread::sleep_for(1ms);
    ask_stop(run_->control());
    while (!all_acknowledged<SystemPolicy>(run_->control(), [](int) { return false; }))
      std::this_thread::sleep_for(1ms);
    lower_end(run_->control(), 0, run_->plan().index_spaces[0].multiple);
  };
  run();
  EXPECT_GE(seen_, 100u);
}

}  // namespace
}  // namespace brigade
