#pragma once

// The recovery after a replica's death, in the order of the protocol: its state in shared memory
// is repaired first, a sample that repeatedly ends its workers is quarantined before its task
// can be claimed again, and only then the supervisor decides whether to start a new replica
// under its number, to continue without it, or to end the run. One thread, the supervisor's.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/memory/cgroups.h"
#include "pipeline/run/supervisor/failure_report.h"
#include "pipeline/run/supervisor/poison_tracker.h"
#include "pipeline/run/supervisor/restart_budget.h"
#include "transports/repair.h"

namespace brigade {

/// A replica that has ended; what it left in its process group has been killed.
struct DeadReplica {
  int number = 0;  ///< in the graph
  StageNumber stage = 0;
  int replica = 0;           ///< of the stage
  bool was_ready = false;    ///< this replica or one before it had opened its stage
  bool others_left = false;  ///< of its stage: at work, done, or about to be started again
  bool is_missed = true;     ///< it was not done, and the run goes on
};

/// Who died how often, and over what. Of one command: a run resumed from a checkpoint keeps
/// it.
struct RecoveryTallies {
  explicit RecoveryTallies(const Plan& plan, MemoryKills kills = MemoryKills());
  PoisonTracker poison_tracker;
  MemoryKills memory_kills;
  ByReplica<RestartBudget> budgets;
};

class Recovery {
 public:
  /// All outlive it. `tallies`: what earlier runs of the same command have noted down.
  Recovery(const Plan& plan, Control<SystemPolicy>& control, RecoveryTallies& tallies,
           const RepairRules& rules = {});

  struct Decision {
    /// `resume`: the whole run ends and resumes from its checkpoint.
    using Next = EventNext;
    Next next = Next::fail;
    std::int64_t restart_ns = 0;  ///< when, on the caller's clock (also of `resume`)
    Event event;                  ///< who, how, why, and what now; unless that is nothing
    Event quarantined = {};       ///< where its `samples` are not 0
  };
  /// Repairs what it left behind, in any case and before anything else. `death`: read from shared
  /// memory before this call, which clears it.
  Decision died(const DeadReplica& dead, FailureReport death, std::int64_t now_ns);
  /// One that was to take the place of a dead one and could not be started, for lack of processes
  /// or memory as a rule, which may pass: it counts as another restart.
  Decision not_started(const DeadReplica& dead, const std::string& why, std::int64_t now_ns);

 private:
  struct InFlight {
    std::uint64_t at = 0;     // its word of that name
    std::uint64_t level = 0;  // the watermark of that task queue
  };
  InFlight in_flight_of(const DeadReplica& dead) const;
  PoisonTracker::Verdict judge(const DeadReplica& dead, const InFlight& in_flight,
                               FailureReport& death);
  Decision decide(const DeadReplica& dead, const Ending& ending, Event event, std::int64_t now_ns);

  const Plan& plan_;
  Control<SystemPolicy>& control_;
  RecoveryTallies& tallies_;
  const RepairRules rules_;
};

}  // namespace brigade
