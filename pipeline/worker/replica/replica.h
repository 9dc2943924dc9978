#pragma once

// One replica of one stage: opens the user's class, claims tasks, calls it
// slot by slot or batch by batch on shared memory, finishes tasks, until its
// task queues have ended. The same class runs in a worker process and as a
// thread of `--in-process`, independent of both. Call order, from one thread:
//
//   open source_size? (run | (next_call settle)* next_call) close
//
// In the second form, the caller makes the calls of the user's class: process() and read() of the
// objects from the setup are never called. The first call of a consumer waits for Phase::running.
// Errors name the sample by number and, where the producer can describe it, by source.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include <brigade/result.h>
#include <brigade/skipped_inputs.h>
#include <brigade/stage_types.h>
#include "pipeline/memory/shared_tensors.h"
#include "pipeline/plan/resume_point.h"
#include "pipeline/records/device_rings.h"
#include "pipeline/worker/replica/work.h"
#include "pipeline/worker/tasks/run_reporter.h"
#include "transports/layout.h"
#include "transports/slot_ring.h"

namespace brigade {

/// What a replica is given. Everything outlives it.
struct ReplicaSetup {
  const Plan* plan = nullptr;
  const ResumePoint* resume = nullptr;
  StageNumber stage = 0;  ///< index into plan->stages
  int replica = 0;        ///< of the stage
  Control<SystemPolicy>* control = nullptr;
  ByStage<SlotRing> rings;          ///< those this replica neither reads nor writes are empty
  DeviceRings* device = nullptr;    ///< where tensors of these lie on a device, else null
  const StageType* type = nullptr;  ///< contract; the body comes from make_stage or make_producer
  std::function<Result<std::unique_ptr<Stage>>()> make_stage;
  std::function<Result<std::unique_ptr<Producer>>()> make_producer;
  /// The type of another stage, a source, and what makes its producer; null: not known here. Asked
  /// where a sample has failed, to name it.
  std::function<const StageType*(const PlanStage&)> find_type;
  std::function<Result<std::unique_ptr<Producer>>(const StageType&)> make_source;
  ReplicaShared shared = {};
  RunReporter* reporter = nullptr;
  int spins = 0;  ///< attempts before sleeping
};

class Replica {
 public:
  explicit Replica(ReplicaSetup setup);
  ~Replica();
  Replica(Replica&&) noexcept;
  Replica& operator=(Replica&&) noexcept;

  Result<void> open();
  /// Samples per epoch of an indexed source, `limit` applied; none for other stages. After open().
  std::optional<std::uint64_t> source_size() const;
  /// What an indexed source has found and does not give: by itself, for `limit`, to other ranks.
  const std::vector<SkippedInputs>& skipped() const;
  Result<void> run();
  /// The next record; none: all that there is has been done. Of no stream, cache or flat_map.
  Result<std::optional<Call>> next_call();
  /// The answer to that call. An error ends the run.
  Result<void> settle(Result<Next> answer);
  Result<void> close();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace brigade
