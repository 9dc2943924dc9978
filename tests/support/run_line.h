#pragma once

// Runs a graph made by hand (GraphBuilder) as threads of this process: the real planner, the real
// loop, the real channels on private memory, and stages that a test makes from lambdas.
//
//   GraphBuilder graph;  ...
//   RunLine line(graph);
//   line.producers["numbers"] = [](int replica) { return std::make_unique<Numbers>(100); };
//   line.stages["count"] = ...;
//   ASSERT_TRUE(line.run().ok());
//
// The first error of a replica aborts the others, and is the result; with restarts it counts as the
// death of that replica: its stage is repaired, and it starts anew.

#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "pipeline/plan/planner.h"
#include "pipeline/run/graph_shape.h"
#include "pipeline/run/replica.h"
#include "pipeline/run/replica_context.h"
#include "pipeline/run/sampler.h"
#include "tests/support/graph_builder.h"
#include "tests/support/line.h"
#include "tests/support/plan_limits.h"
#include "transports/audit.h"
#include "transports/repair.h"
#include "transports/stop.h"

namespace brigade::support {

/// Keeps what stages say and report. Any thread.
class KeepingReporter final : public RunReporter {
 public:
  void report(std::string_view name, double value) override { keep(name, std::to_string(value)); }
  void report(std::string_view name, std::uint64_t value) override {
    keep(name, std::to_string(value));
  }
  void say(std::string_view line) override {
    std::lock_guard lock(mutex_);
    lines_.emplace_back(line);
  }
  void quarantined(const QuarantinedSample& sample) override {
    std::lock_guard lock(mutex_);
    quarantined_.push_back(sample);
  }
  std::vector<QuarantinedSample> quarantined() {
    std::lock_guard lock(mutex_);
    return quarantined_;
  }
  std::vector<std::string> lines() {
    std::lock_guard lock(mutex_);
    return lines_;
  }
  std::map<std::string, std::string> values() {
    std::lock_guard lock(mutex_);
    return values_;
  }

 private:
  void keep(std::string_view name, std::string value) {
    std::lock_guard lock(mutex_);
    values_[std::string(name)] = std::move(value);
  }

  std::mutex mutex_;
  std::vector<std::string> lines_;
  std::vector<QuarantinedSample> quarantined_;
  std::map<std::string, std::string> values_;
};

class RunLine {
 public:
  std::map<std::string, std::function<std::unique_ptr<Producer>(int replica)>> producers;
  std::map<std::string, std::function<std::unique_ptr<Stage>(int replica)>> stages;
  KeepingReporter reporter;
  int spins = 0;
  int restarts_max = 0;
  /// Called when all threads run and the graph has started.
  std::function<void()> while_running = [] {};

  /// `adjust`: changes the plan before memory is laid out for it.
  explicit RunLine(
      GraphBuilder& graph, const std::function<void(Plan&)>& adjust = [](Plan&) {}) {
    for (ValidStage& stage : graph.graph().stages) {
      StageContract& contract = graph.type_of(stage.name).contract;
      if (!contract.make_params) contract.make_params = [] { return std::make_shared<int>(); };
      types_.push_back(&graph.type_of(stage.name));
    }
    PlanResult planned = plan_graph(graph.build(), small_machine());
    for (const PlanProblem& problem : planned.problems) ADD_FAILURE() << problem.message;
    plan_ = std::move(planned.plan);
    adjust(plan_);
    lay_out();
  }

  const Plan& plan() const { return plan_; }
  Control<SystemPolicy>& control() { return control_; }
  const PlanStage& stage(const std::string& name) const {
    for (const PlanStage& stage : plan_.stages)
      if (stage.name == name) return stage;
    BRIGADE_CHECK(false, name);
    return plan_.stages.front();
  }
  int index(const std::string& name) const {
    return static_cast<int>(&stage(name) - plan_.stages.data());
  }
  EdgeAudit audit(const std::string& writer, const std::string& reader, int lane = 0) {
    return audit_edge(control_, index(writer), index(reader), lane);
  }

  const RowPool& pool(const std::string& name) const {
    return pools_[static_cast<std::size_t>(index(name))];
  }
  const std::vector<RowPool>& pools() const { return pools_; }
  ReplicaContext context(const std::string& name, int replica = 0) {
    return {&plan_, &stage(name), index(name), replica, &control_, pools_, &reporter};
  }
  LaneWords<SystemPolicy>& lane(const std::string& name, int lane = 0) {
    return control_.stages[static_cast<std::size_t>(index(name))]
        .lanes[static_cast<std::size_t>(lane)];
  }

  /// A replica that nobody has opened yet.
  Replica make(int stage, int replica) {
    ReplicaSetup setup;
    setup.plan = &plan_;
    setup.stage = stage;
    setup.replica = replica;
    setup.control = &control_;
    setup.pools = pools_;
    setup.type = types_[static_cast<std::size_t>(stage)];
    const std::string& name = plan_.stages[static_cast<std::size_t>(stage)].name;
    setup.make_stage = [this, name, replica]() -> Result<std::unique_ptr<Stage>> {
      return stages.at(name)(replica);
    };
    setup.make_producer = [this, name, replica]() -> Result<std::unique_ptr<Producer>> {
      return producers.at(name)(replica);
    };
    setup.reporter = &reporter;
    setup.spins = spins;
    return Replica(std::move(setup));
  }

  Result<void> run() {
    BRIGADE_TRY(open_all());
    std::vector<std::thread> threads;
    for (auto& [id, replica] : replicas_) {
      threads.emplace_back([this, id = id, &replica = replica] { live(id, replica); });
    }
    start();
    while_running();
    for (std::thread& thread : threads) thread.join();
    if (error_) return *error_;
    for (auto& [id, replica] : replicas_) BRIGADE_TRY(replica.close());
    return {};
  }

  Result<void> open_all() {
    for (int s = 0; s < static_cast<int>(plan_.stages.size()); ++s) {
      for (int r = 0; r < plan_.stages[static_cast<std::size_t>(s)].replicas; ++r) {
        Replica& replica = replicas_.emplace(Id{s, r}, make(s, r)).first->second;
        BRIGADE_TRY(replica.open());
        sizes_[s] = replica.source_size().value_or(0);
      }
    }
    return {};
  }

  /// The start barrier: sizes become ends, then consumers may start.
  void start() {
    for (std::size_t d = 0; d < plan_.domains.size(); ++d) {
      const PlanDomain& domain = plan_.domains[d];
      if (domain.above >= 0) continue;  // it follows
      const std::uint64_t samples = sizes_.at(domain.sources.front());
      if (samples == 0) continue;  // a stream: it sets its end itself
      set_end(control_, static_cast<int>(d), samples, epoch_period(samples, domain.multiple),
              plan_.epochs);
    }
    begin_running(control_);
  }

  int restarts() const { return restarts_; }

 private:
  using Id = std::pair<int, int>;  // stage, replica

  void lay_out() {
    shape_ = graph_shape(plan_);
    memory_ = std::make_unique<LineMemory>(control_bytes<SystemPolicy>(shape_));
    control_ =
        create_control<SystemPolicy>(memory_->data(), shape_, choose_wake_order<SystemPolicy>());
    for (const PlanStage& stage : plan_.stages) {
      if (!stage.has_pool) {
        pools_.emplace_back();
        continue;
      }
      pool_memory_.push_back(std::make_unique<LineMemory>(stage.segment_bytes()));
      pools_.emplace_back(pool_memory_.back()->data(), stage.pool.rows, row_arrays(stage.pool));
    }
  }

  void live(Id id, Replica& replica) {
    for (;;) {
      const Result<void> result = replica.run();
      if (result.ok()) return;
      std::lock_guard lock(mutex_);  // one supervisor
      if (restarts_++ >= restarts_max) {
        if (!error_) error_ = result.error();
        return abort_all(control_);
      }
      repair(control_, id.first, id.second);
      replica = make(id.first, id.second);
      if (!replica.open().ok()) std::abort();
    }
  }

  std::vector<const StageType*> types_;
  Plan plan_;
  GraphShape shape_;
  std::unique_ptr<LineMemory> memory_;
  Control<SystemPolicy> control_;
  std::vector<std::unique_ptr<LineMemory>> pool_memory_;
  std::vector<RowPool> pools_;
  std::map<Id, Replica> replicas_;
  std::map<int, std::uint64_t> sizes_;
  std::mutex mutex_;
  int restarts_ = 0;
  std::optional<Error> error_;
};

}  // namespace brigade::support
