#pragma once

// The loop of every replica: claim a task or wait for one, tell the stage of epochs that have
// ended, do the work, finish. It ends when its lanes have ended. The loop reads the clock once per
// task, and once more after a wait.
//
// One replica's; one thread.

#include <cstdint>

#include "base/result.h"
#include "pipeline/run/checkpoints.h"
#include "pipeline/run/epoch_ends.h"
#include "pipeline/run/loop_counters.h"
#include "pipeline/run/task_work.h"
#include "transports/joined_lanes.h"

namespace brigade {

class StageLoop {
 public:
  /// `spins`: attempts before sleeping. `checkpoints`: null where nothing is saved.
  StageLoop(const ReplicaContext& context, JoinedLanes<SystemPolicy>& lanes, EpochEnds& epoch_ends,
            TaskWork& work, int spins, Checkpoints* checkpoints = nullptr);

  /// An error ends the run; the task in hand stays claimed.
  Result<void> run();

 private:
  Result<void> between_tasks();
  void rest();
  Attempt<SystemPolicy> claim();
  Result<void> do_task(std::uint64_t task);

  ReplicaContext context_;
  LoopCounters counters_;
  JoinedLanes<SystemPolicy>* lanes_;
  EpochEnds* epoch_ends_;
  TaskWork* work_;
  int spins_;
  Checkpoints* checkpoints_;
};

/// Sleeps until the graph has left Phase::starting. Whoever changes the phase must ring.
void wait_for_start(const ReplicaContext& context);

}  // namespace brigade
