// Streams with several replicas.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <set>

#include "tests/support/number_line.h"

namespace brigade {
namespace {

using support::LambdaStage;
using support::RunLine;
using namespace std::chrono_literals;

constexpr int kReplicas = 3;

/// feed (three replicas) -> sink (batches of 8, in order). What replica r gives is by(r).
class SharedStream : public testing::Test {
 protected:
  void build(std::int64_t max_wait_ns = 5'000'000) {
    graph_.producer("feed", {support::kValue}).replicas = kReplicas;
    graph_.type_of("feed").indexed = false;
    graph_.type_of("feed").contract.may_drop = true;
    graph_.stage("feed").batch = 8;
    graph_.stage("feed").chunk = 4;
    ValidStage& sink = graph_.consumer("sink", {"feed"});
    sink.batched = true;
    sink.sources[0].max_wait_ns = max_wait_ns;
    run_ = std::make_unique<RunLine>(graph_);
    run_->stages["feed"] = [this](int replica) {
      auto stage = std::make_unique<LambdaStage>(
          [this, replica](const Inputs&, Outputs& out) { return by_(replica, out); });
      stage->on_epoch_end = [this](const EpochEnd&) {
        ++feed_ends_;
        return Result<void>();
      };
      return stage;
    };
    run_->stages["sink"] = [this](int) {
      auto stage =
          std::make_unique<LambdaStage>([this](const Inputs& in, Outputs&) -> Result<Next> {
            const auto values = in["value"].as<std::int64_t>();
            seen_.insert(seen_.end(), values.begin(), values.end());
            for (std::int64_t slot = 0; slot < in.samples(); ++slot) {
              EXPECT_EQ(in.info(slot).number, in.info(slot).index);
              numbers_.insert(in.info(slot).number);
            }
            count_ += values.size();
            return Next::emit;
          });
      stage->on_epoch_end = [this](const EpochEnd&) -> Result<void> {
        ++sink_ends_;
        return {};
      };
      return stage;
    };
  }
  void run() {
    const Result<void> ran = run_->run();
    ASSERT_TRUE(ran.ok()) << ran.error().message;
    const EdgeAudit audit = run_->audit("feed", "sink");
    EXPECT_EQ(audit.leaked, 0);
    EXPECT_EQ(audit.produced, seen_.size());
    EXPECT_EQ(audit.delivered, seen_.size());
    EXPECT_EQ(numbers_.size(), seen_.size());
  }
  /// Replica r gives r * 1000, r * 1000 + 1, ...; `sizes` of each.
  Result<Next> count_up(const std::vector<std::int64_t>& sizes, int replica, Outputs& out) {
    std::int64_t& at = in_flight_[replica];
    if (at == sizes[replica]) return Next::end;
    out["value"].as<std::int64_t>()[0] = replica * 1000 + at++;
    return Next::emit;
  }
  /// Every value once, those of a replica in its order.
  void expect_seen(const std::vector<std::int64_t>& sizes) {
    std::vector<std::int64_t> next(kReplicas, 0);
    for (const std::int64_t value : seen_) {
      const auto replica = static_cast<std::size_t>(value / 1000);
      EXPECT_EQ(value % 1000, next[replica]++);
    }
    EXPECT_EQ(next, sizes);
  }

  GraphBuilder graph_;
  std::unique_ptr<RunLine> run_;
  std::function<Result<Next>(int, Outputs&)> by_;
  std::vector<std::int64_t> in_flight_ = std::vector<std::int64_t>(kReplicas, 0);
  std::vector<std::int64_t> seen_;
  std::set<std::uint64_t> numbers_;
  std::atomic<std::uint64_t> count_ = 0;
  std::atomic<int> feed_ends_ = 0;
  int sink_ends_ = 0;
};

class SharedStreamOfSizes : public SharedStream,
                            public testing::WithParamInterface<std::vector<std::int64_t>> {};

TEST_P(SharedStreamOfSizes, EndsWhenEveryReplicaIsAtItsEnd) {
  build();
  by_ = [this](int replica, Outputs& out) { return count_up(GetParam(), replica, out); };
  run();
  expect_seen(GetParam());
  EXPECT_EQ(sink_ends_, 1);
  EXPECT_EQ(feed_ends_, kReplicas);
}

INSTANTIATE_TEST_SUITE_P(Sizes, SharedStreamOfSizes,
                         testing::Values(std::vector<std::int64_t>{0, 0, 0},
                                         std::vector<std::int64_t>{1, 0, 0},
                                         std::vector<std::int64_t>{500, 7, 0},
                                         std::vector<std::int64_t>{333, 334, 335}));

TEST_F(SharedStream, ABatchThatNobodyFillsIsClosed) {
  build(1'000'000);
  const std::vector<std::int64_t> sizes{3, 0, 0};
  by_ = [&](int replica, Outputs& out) -> Result<Next> {
    if (replica == 0 && in_flight_[0] == 3 && count_ < 3) return Next::wait;
    return count_up(sizes, replica, out);
  };
  // A task of 4 holds the three, and the batch of 8 needs another, which nobody would claim:
  // replica 0 waits for the three to arrive, the others are at their end.
  run();
  expect_seen(sizes);
}

TEST_F(SharedStream, AStopEndsIt) {
  build();
  std::atomic<std::int64_t> next = 0;
  by_ = [&](int, Outputs& out) -> Result<Next> {
    out["value"].as<std::int64_t>()[0] = next++;
    return Next::emit;  // for ever
  };
  run_->while_running = [&] {
    while (count_ < 100) std::this_thread::sleep_for(1ms);
    ask_stop(run_->control());
    while (!all_acknowledged<SystemPolicy>(run_->control(), [](int) { return false; }))
      std::this_thread::sleep_for(1ms);
    lower_end(run_->control(), 0, run_->plan().index_spaces[0].multiple);
  };
  run();
  EXPECT_GE(seen_.size(), 100u);
}

/// The replica that is started again is a new object: it goes on after what it has published.
TEST_F(SharedStream, ASuccessorNeitherLosesNorRepeatsASample) {
  build();
  run_->restarts_max = 20;
  const std::vector<std::int64_t> sizes{200, 150, 100};
  std::atomic<int> calls = 0;
  run_->stages["feed"] = [&](int replica) {
    auto at = std::make_shared<std::int64_t>(0);
    auto stage = std::make_unique<LambdaStage>(
        [&, replica, at](const Inputs&, Outputs& out) -> Result<Next> {
          if (++calls % 50 == 0) return Error{"died"};
          if (*at == sizes[replica]) return Next::end;
          out["value"].as<std::int64_t>()[0] = replica * 1000 + (*at)++;
          return Next::emit;
        });
    stage->on_open = [at](const OpenContext& context) {
      *at = static_cast<std::int64_t>(context.samples_done);
      return Result<void>();
    };
    return stage;
  };
  run();
  EXPECT_GT(run_->restarts(), 3);
  // A task that a dead replica had claimed may be taken late, by one that is further on.
  std::sort(seen_.begin(), seen_.end());
  expect_seen(sizes);
}

}  // namespace
}  // namespace brigade
