#pragma once

// Runs a test line as threads of this process over SystemPolicy: the real protocol, as
// `--in-process` uses it and ThreadSanitizer sees it. Every row is checked where it is read.

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

#include "tests/support/line.h"
#include "transports/audit.h"
#include "transports/stop.h"
#include "transports/wait.h"

namespace brigade::support {

class LineThreads {
 public:
  using Policy = SystemPolicy;

  explicit LineThreads(const std::vector<StageSpec>& specs, std::uint64_t samples,
                       WakeOrder order = choose_wake_order<Policy>())
      : shape_(line_shape(specs)), memory_(control_bytes<Policy>(shape_)), samples_(samples) {
    control_ = create_control<Policy>(memory_.data(), shape_, order);
    for (const StageShape& stage : shape_.stages) {
      pool_memory_.emplace_back(number_pool_bytes(stage));
      pools_.push_back(number_pool(pool_memory_.back().data(), stage));
      seen_.push_back(std::vector<std::atomic<int>>(samples));
    }
  }

  /// Sample numbers for which this says true leave the source as holes.
  std::function<bool(std::uint64_t)> is_hole = [](std::uint64_t) { return false; };
  /// Called by a replica before it works on a task.
  std::function<void(int stage, int replica, std::uint64_t task)> before_task;
  int spins = 0;

  const GraphShape& shape() const { return shape_; }
  Control<Policy>& control() { return control_; }
  int wrong_rows() const { return wrong_rows_; }
  /// How often a stage worked on a sample.
  int seen(int stage, std::uint64_t sample) const {
    return seen_[static_cast<std::size_t>(stage)][sample];
  }
  std::uint64_t low(int stage) const { return lane_low(control_, stage, 0); }

  void start() {
    for (int s = 0; s < static_cast<int>(shape_.stages.size()); ++s) {
      for (int r = 0; r < shape_.stages[static_cast<std::size_t>(s)].replicas; ++r) {
        threads_.emplace_back([this, s, r] { replica(s, r); });
      }
    }
  }
  void set_end() { brigade::set_end(control_, 0, samples_, samples_, 1); }
  void join() {
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }
  void run() {
    set_end();
    start();
    join();
  }

 private:
  void replica(int stage, int number) {
    const StageShape& shape = shape_.stages[static_cast<std::size_t>(stage)];
    const int global = shape.first_replica + number;
    Channel<Policy> channel(control_, stage, 0, number);
    for (;;) {
      const auto claim =
          claim_or_wait<Policy>(control_, global, spins, [&] { return channel.try_claim(); });
      if (claim.look != Look::claimed) return;
      if (before_task) before_task(stage, number, claim.task);
      RowCounts counts;
      const std::uint64_t first = claim.task * channel.task_size();
      for (std::uint64_t s = first; s < first + channel.task_size(); ++s) row(stage, s, counts);
      channel.finish(claim.task, counts);
    }
  }

  void row(int stage, std::uint64_t sample, RowCounts& counts) {
    const StageShape& shape = shape_.stages[static_cast<std::size_t>(stage)];
    RowHeader out{sample, sample, sample, 0, RowState::full, {}};
    std::uint64_t sum = shape.source ? sample : 0;
    if (shape.source && is_hole(sample)) out.state = RowState::hole;
    for (int input : shape.lanes[0].inputs) {
      const RowPool& pool = pools_[static_cast<std::size_t>(input)];
      const RowHeader& header = *pool.headers(sample);
      const auto value = *reinterpret_cast<const std::uint64_t*>(pool.row(0, sample));
      if (header.number != sample || value != expected_value(shape_, input, sample)) ++wrong_rows_;
      if (header.state != RowState::full) out.state = header.state;
      sum += value;
    }
    if (out.state != RowState::full) ++counts.holes;
    ++seen_[static_cast<std::size_t>(stage)][sample];
    if (shape.rows == 0) return;
    const RowPool& pool = pools_[static_cast<std::size_t>(stage)];
    *pool.headers(sample) = out;
    *reinterpret_cast<std::uint64_t*>(pool.row(0, sample)) = next_value(stage, sum);
  }

  GraphShape shape_;
  LineMemory memory_;
  std::uint64_t samples_;
  Control<Policy> control_;
  std::vector<LineMemory> pool_memory_;
  std::vector<RowPool> pools_;
  std::vector<std::vector<std::atomic<int>>> seen_;
  std::atomic<int> wrong_rows_{0};
  std::vector<std::thread> threads_;
};

}  // namespace brigade::support
