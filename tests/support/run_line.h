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

#include <brigade/text.h>
#include "pipeline/plan/planner/planner.h"
#include "pipeline/records/sampler.h"
#include "pipeline/records/shared_shape.h"
#include "pipeline/worker/replica/replica.h"
#include "pipeline/worker/tasks/replica_context.h"
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
  void log(std::string_view line) override {
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
  int restarts_max = 0;
  std::vector<SharedTensor> shared;  ///< of every replica
  /// Called when all threads run and the graph has started.
  std::function<void()> while_running = [] {};

  /// `adjust`: changes the plan before memory is laid out for it; `past`: gives it a point to
  /// resume from, whose lists are as long as the plan's.
  explicit RunLine(GraphBuilder graph, const std::function<void(Plan&)>& adjust = {},
                   const std::function<void(const Plan&, ResumePoint&)>& past = {})
      : graph_(std::move(graph)) {
    for (ValidStage& stage : graph_.graph().stages) {
      StageContract& contract = graph_.type_of(stage.name).contract;
      if (!contract.make_params) contract.make_params = [] { return std::make_shared<int>(); };
      types_.push_back(&graph_.type_of(stage.name));
    }
    PlanResult planned = plan_graph(graph_.build(), small_machine());
    for (const PlanProblem& problem : planned.problems) ADD_FAILURE() << problem.message;
    plan_ = std::move(planned.plan);
    if (adjust) adjust(plan_);
    resume_.index_spaces.resize(plan_.index_spaces.size());
    for (const PlanStage& stage : plan_.stages)
      resume_.stages.emplace_back().queues.resize(stage.queues.size());
    if (past) past(plan_, resume_);
    lay_out();
  }

  const Plan& plan() const { return plan_; }
  const ResumePoint& resume() const { return resume_; }
  Control<SystemPolicy>& control() { return control_; }
  const PlanStage& stage(const std::string& name) const {
    for (const PlanStage& stage : plan_.stages)
      if (stage.name == name) return stage;
    BRIGADE_CHECK(false, name);
    return plan_.stages.front();
  }
  StageNumber index(const std::string& name) const { return plan_.stages.number_of(stage(name)); }
  EdgeAudit audit(const std::string& writer, const std::string& reader, QueueNumber queue = 0) {
    return audit_edge(control_, index(writer), index(reader), queue);
  }

  const SlotRing& ring(const std::string& name) const { return rings_[index(name)]; }
  const ByStage<SlotRing>& rings() const { return rings_; }
  ReplicaContext context(const std::string& name, int replica = 0) {
    return {&plan_, &resume_, &stage(name), index(name), replica, &control_, &rings_, &reporter};
  }
  QueueWords<SystemPolicy>& queue(const std::string& name, QueueNumber queue = 0) {
    return control_.stages[index(name)].queues[queue];
  }

  /// A replica that nobody has opened yet.
  Replica make(StageNumber stage, int replica) {
    ReplicaSetup setup;
    setup.plan = &plan_;
    setup.resume = &resume_;
    setup.stage = stage;
    setup.replica = replica;
    setup.control = &control_;
    setup.rings = rings_;
    setup.type = types_[stage];
    const std::string& name = plan_.stages[stage].name;
    setup.make_stage = [this, name, replica]() -> Result<std::unique_ptr<Stage>> {
      return stages.at(name)(replica);
    };
    setup.make_producer = [this, name, replica]() -> Result<std::unique_ptr<Producer>> {
      return producers.at(name)(replica);
    };
    setup.shared.tensors = shared;
    setup.reporter = &reporter;
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
    for (const StageNumber s : plan_.stages.numbers()) {
      for (int r = 0; r < plan_.stages[s].replicas; ++r) {
        Replica& replica = replicas_.emplace(Id{s, r}, make(s, r)).first->second;
        BRIGADE_TRY(replica.open());
        sizes_[s] = replica.source_size().value_or(0);
      }
    }
    return {};
  }

  /// The start barrier: sizes become ends, then consumers may start.
  void start() {
    for (const IndexSpaceNumber d : plan_.index_spaces.numbers()) {
      const PlanIndexSpace& index_space = plan_.index_spaces[d];
      if (index_space.above >= 0) continue;  // it follows
      const std::uint64_t samples = sizes_.at(index_space.sources.front());
      if (samples == 0) continue;  // a stream: it sets its end itself
      set_end(control_, d, samples, epoch_period(samples, index_space.multiple), plan_.epochs);
    }
    begin_running(control_);
  }

  int restarts() const { return restarts_; }

 private:
  using Id = std::pair<StageNumber, int>;  // replica of the stage

  void lay_out() {
    shape_ = shared_shape(plan_, resume_);
    memory_ = std::make_unique<LineMemory>(control_bytes<SystemPolicy>(shape_));
    control_ = create_control<SystemPolicy>(memory_->data(), shape_,
                                            choose_wake_order<SystemPolicy>(shape_));
    for (const PlanStage& stage : plan_.stages) {
      if (!stage.has_ring) {
        rings_.emplace_back();
        continue;
      }
      ring_memory_.push_back(std::make_unique<LineMemory>(stage.segment_bytes()));
      rings_.emplace_back(ring_memory_.back()->data(), stage.ring.slots, slot_arrays(stage.ring));
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

  GraphBuilder graph_;
  ByStage<const StageType*> types_;
  Plan plan_;
  ResumePoint resume_;
  SharedShape shape_;
  std::unique_ptr<LineMemory> memory_;
  Control<SystemPolicy> control_;
  std::vector<std::unique_ptr<LineMemory>> ring_memory_;
  ByStage<SlotRing> rings_;
  std::map<Id, Replica> replicas_;
  std::map<StageNumber, std::uint64_t> sizes_;
  std::mutex mutex_;
  int restarts_ = 0;
  std::optional<Error> error_;
};

}  // namespace brigade::support
