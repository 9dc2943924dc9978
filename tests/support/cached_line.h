#pragma once

// numbers -> kept (a cache) -> sink, driven by hand in one thread: for tests of what a cache keeps,
// when it gives, and what.

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <vector>

#include "pipeline/run/cache_rows.h"
#include "pipeline/run/kept_up_to.h"
#include "pipeline/run/task_work.h"
#include "tests/support/number_line.h"
#include "transports/joined_lanes.h"

namespace brigade::support {

inline constexpr std::uint64_t kSamples = 100;
inline constexpr std::uint64_t kCachedTask = 20;

/// numbers (100 samples, in tasks of 20) -> kept -> sink, two epochs, one after the other in this
/// thread: `numbers` is written by hand, `kept` by its own work.
class CachedLine : public testing::Test {
 protected:
  CachedLine() {
    graph_.graph().epochs = 2;
    ValidStage& numbers = graph_.producer("numbers", {kValue, kWords});
    numbers.samples = kSamples;
    numbers.rows = kCachedTask;
    ValidStage& kept = graph_.transform("kept", {"numbers"}, {kValue, kWords});
    kept.passed = {{"value", 0}, {"words", 0}};
    kept.rows = kCachedTask;
    kept.shuffle = true;
    graph_.type_of("kept").contract.cache = true;
    graph_.consumer("sink", {"kept"}).rows = kCachedTask;
    run_.emplace(graph_);
    work_ = make_cache_work(run_->context("kept"));
    kept_rows_.emplace(run_->stage("kept"), run_->pool("kept"));
    up_to_.emplace(run_->context("kept"));
  }

  /// The next task of the source; `holes` are indices.
  void produce(const std::vector<std::uint64_t>& holes = {}) {
    Channel<SystemPolicy> source(run_->control(), run_->index("numbers"), 0, 0);
    const auto claim = source.try_claim();
    ASSERT_EQ(claim.look, Look::claimed);
    const RowPool& pool = run_->pool("numbers");
    for (std::uint64_t n = claim.task * kCachedTask; n < (claim.task + 1) * kCachedTask; ++n) {
      *pool.headers(n) = {n, n, n, 0, RowState::full, {}};
      *reinterpret_cast<std::int64_t*>(pool.row(0, n)) = static_cast<std::int64_t>(n) * 10;
      *reinterpret_cast<std::int64_t*>(pool.row(2, n)) = static_cast<std::int64_t>(n % 3);
      *pool.row(1, n) = static_cast<std::byte>(n);
      for (const std::uint64_t hole : holes)
        if (n == hole) pool.headers(n)->state = RowState::hole;
    }
    source.finish(claim.task);
  }
  /// Claims and works like a replica.
  Attempt<SystemPolicy> step(JoinedLanes<SystemPolicy>& lanes) {
    const auto claim = lanes.try_claim();
    if (claim.look != Look::claimed) return claim;
    const auto done = work_->work(lanes.lane(), claim.task * kCachedTask);
    EXPECT_TRUE(done.ok());
    lanes.finish(claim.task, done->not_full);
    return claim;
  }
  JoinedLanes<SystemPolicy> lanes() {
    JoinedLanes<SystemPolicy> lanes(run_->control(), run_->index("kept"), 0);
    lanes.give_up_to([this] { return (*up_to_)(); });
    return lanes;
  }
  void begin() {
    set_end(run_->control(), 0, kSamples, kSamples, 1);
    set_end(run_->control(), 1, kSamples, kSamples, 2);
  }
  std::uint64_t given() { return run_->lane("kept", 0).mark->low.value; }

  static inline const TensorType kWords{"words", u8, {up_to(2)}};
  GraphBuilder graph_;
  std::optional<RunLine> run_;
  std::unique_ptr<TaskWork> work_;
  std::optional<CacheRows> kept_rows_;
  std::optional<KeptUpTo> up_to_;
};

}  // namespace brigade::support
