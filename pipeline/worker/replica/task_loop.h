#pragma once

// The loop of every replica: claim a task or wait for one, notify the stage
// of ended epochs, do the work, finish. It ends when its task queues have
// ended. The loop reads the clock once per task, and once more after a wait.
//
// One replica's; one thread.

#include <cstdint>
#include <optional>

#include <brigade/result.h>
#include "pipeline/worker/replica/checkpoint_saver.h"
#include "pipeline/worker/replica/work.h"
#include "pipeline/worker/tasks/epoch_notifier.h"
#include "pipeline/worker/tasks/held_task.h"
#include "pipeline/worker/tasks/loop_counters.h"
#include "transports/joined_queues.h"
#include "transports/wait.h"

namespace brigade {

class TaskLoop {
 public:
  /// `spins`: attempts before sleeping. `checkpoints`: null where nothing is saved. `kept`: null
  /// where tasks end with their calls.
  TaskLoop(const ReplicaContext& context, JoinedQueues<SystemPolicy>& queues,
           EpochNotifier& epoch_ends, Work& work, int spins, CheckpointSaver* checkpoints = nullptr,
           KeptTasks* kept = nullptr);

  /// An error ends the run; the task in flight stays claimed.
  Result<void> run();

  /// The same, where somebody else makes the calls of `work`, which is this loop's, and asks for
  /// one after the other: (next_call settle)* next_call. A task is finished with its last call. No
  /// call: all have been made, of all tasks.
  Result<std::optional<Call>> next_call(CallWork& work);
  Result<void> settle(CallWork& work, Result<Next>& answer);

 private:
  Result<void> between_tasks();
  void rest();
  Attempt<SystemPolicy> claim();
  Attempt<SystemPolicy> try_claim();
  bool is_over() const;
  bool wait_for_kept();
  Result<bool> claim_next();
  std::uint64_t begin_task();
  void finish_task(const TaskDone& done);
  Result<void> do_task();
  Result<bool> advance(CallWork& work);

  ReplicaContext context_;
  LoopCounters counters_;
  JoinedQueues<SystemPolicy>* queues_;
  EpochNotifier* epoch_ends_;
  Work* work_;
  int spins_;
  CheckpointSaver* checkpoints_;
  KeptTasks* kept_;
  std::uint64_t task_ = 0;  // that is claimed
  bool in_task_ = false;    // call by call: a call of it is due
};

/// Claims a task or waits for one, and counts for what. `try_claim`: that of `queues`, and whatever
/// else may end the wait. `sleep`: as claim_or_wait() has it.
template <class TryClaim, class Sleep = SleepUntilRung<SystemPolicy>>
Attempt<SystemPolicy> claim_counted(const ReplicaContext& context,
                                    const JoinedQueues<SystemPolicy>& queues,
                                    LoopCounters& counters, int spins, TryClaim&& try_claim,
                                    Sleep&& sleep = {}) {
  Attempt<SystemPolicy> found = try_claim();
  if (found.look == Look::claimed) return found;
  Cause cause = found.cause;
  const auto attempt = [&] {
    const Attempt<SystemPolicy> again = try_claim();
    if (again.look == Look::blocked) cause = again.cause;
    return again;
  };
  const auto before_sleep = [&] { counters.begin_wait(cause); };
  found = claim_or_wait(*context.control, context.number(), spins, attempt, before_sleep,
                        queues.watched(), sleep);
  counters.end_wait(cause);
  return found;
}

/// Whether the graph has left Phase::starting. Whoever changes the phase rings.
bool has_started(const ReplicaContext& context);
/// Sleeps until then.
void wait_for_start(const ReplicaContext& context);

}  // namespace brigade
