#pragma once

// What follows a replica's death, in the order of the protocol: what it left behind in shared
// memory is put right first, a sample that keeps ending its workers goes into quarantine before its
// task can be claimed again, and only then it is decided whether a new replica is started under its
// number, the others carry on without it, or the run ends. One thread, the supervisor's.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/process/death.h"
#include "pipeline/process/death_ledger.h"
#include "pipeline/process/memory_kills.h"
#include "pipeline/process/restart_policy.h"
#include "transports/repair.h"

namespace brigade {

/// A replica that has ended, been reaped, and was not done.
struct DeadReplica {
  int number = 0;  ///< in the graph
  int stage = 0;
  int replica = 0;           ///< of the stage
  bool was_ready = false;    ///< this replica or one before it had opened its stage
  bool others_left = false;  ///< of its stage: at work, done, or about to be started again
};

/// Who died how often, and over what. Of one command: a run that goes on from a checkpoint keeps
/// it.
struct RecoveryBooks {
  explicit RecoveryBooks(const Plan& plan, MemoryKills kills = MemoryKills());
  DeathLedger ledger;
  MemoryKills memory_kills;
  std::vector<RestartBudget> budgets;  ///< by number in the graph
};

class Recovery {
 public:
  /// All outlive it. `books`: what earlier runs of the same command have noted down.
  Recovery(const Plan& plan, Control<SystemPolicy>& control, RecoveryBooks& books,
           const RepairRules& rules = {});

  struct Decision {
    /// `resume`: the whole run ends and goes on from its checkpoint.
    enum class Next { restart, resume, carry_on, fail } next = Next::fail;
    std::int64_t restart_ns = 0;  ///< when, on the caller's clock (also of `resume`)
    std::string text;             ///< one line for the user: who, how, why, and what now
  };
  /// `death`: read from shared memory before this call, which clears it.
  Decision died(const DeadReplica& dead, Death death, std::int64_t now_ns);
  /// One that was to take the place of a dead one and could not be started, for lack of processes
  /// or memory as a rule, which may pass: it counts as another restart. `why` names it.
  Decision not_started(const DeadReplica& dead, const std::string& why, std::int64_t now_ns);

  /// One that has ended and been reaped, and that nobody takes the place of: what it left behind is
  /// put right. `poisoned`: goes into quarantine first.
  void put_right(int stage, int replica, const std::vector<std::uint64_t>& poisoned = {});

 private:
  DeathLedger::Verdict repair_after(const DeadReplica& dead, const Death& death);
  Decision decide(const DeadReplica& dead, const Ending& ending, std::string text,
                  std::string_view next_try, std::int64_t now_ns);

  const Plan& plan_;
  Control<SystemPolicy>& control_;
  RecoveryBooks& books_;
  const RepairRules rules_;
};

}  // namespace brigade
