#pragma once

// A hanging replica is not a dead one: a call that does not return is reported, and only if
// `stall_timeout:` asks for it, its process is ended, first with a backtrace. A stall is one
// in-flight sample (or batch) for all that time: waiting for input or memory is not a stall.
// A process that is stopped (SIGSTOP) or traced by a debugger is left alone. A replica that
// does not get ready is reported, without a time limit, because loading may take long.
//
// It also reports a graph in which all replicas wait for each other: that should
// be impossible, and if it happens, these lines name the place. One thread.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "pipeline/plan/plan.h"
#include "pipeline/report/leases.h"
#include "pipeline/run/launch/process_runner.h"
#include "transports/layout.h"

namespace brigade {

class Watchdog {
 public:
  /// Both outlive it.
  Watchdog(const Plan& plan, const Control<SystemPolicy>& control);

  /// Nanoseconds between looks.
  std::int64_t every_ns() const { return every_ns_; }

  /// Replica n's process is started, or started again: it opens what it needs, until it is ready.
  void starts(int number, std::int64_t now_ns);
  void ready(int number) { seen_[number].opens = false; }

  struct Finding {
    enum class Act { say, abort, kill } act = Act::say;
    int number = -1;            ///< of the replica, in the graph; -1: the graph as a whole
    std::string text;           ///< without the name of the replica
    std::int64_t stood_ns = 0;  ///< how long; 0: its process is stopped
  };
  /// `condition(n)`: of replica n's process; gone while it is not running.
  std::vector<Finding> look(std::int64_t now_ns,
                            const std::function<ProcessCondition(int)>& condition);

 private:
  /// What a replica was seen at, and since when.
  struct Seen {
    std::uint64_t task = 0;  // when its task began
    std::uint64_t at = kNever;
    std::int64_t since_ns = 0;
    int said = 0;  // steps taken
    bool halted = false;
    bool opens = false;  // since then
  };
  void look_at_opening(const ReplicaLease& lease, std::int64_t now_ns, ProcessCondition condition,
                       std::vector<Finding>& findings);
  void look_at(const ReplicaLease& lease, std::int64_t now_ns, ProcessCondition condition,
               std::vector<Finding>& findings);
  void look_at_halted(const ReplicaLease& lease, Seen& seen, std::int64_t now_ns,
                      ProcessCondition condition, std::vector<Finding>& findings);
  void look_at_graph(const std::vector<ReplicaLease>& leases, std::int64_t now_ns,
                     std::vector<Finding>& findings);
  std::uint64_t progress() const;
  std::string watermark_text(const ReplicaLease& lease) const;

  const Plan& plan_;
  const Control<SystemPolicy>& control_;
  std::int64_t every_ns_;
  ByReplica<Seen> seen_;  // by number in the graph
  std::uint64_t progress_ = 0;
  std::int64_t progress_ns_ = 0;
  bool standstill_said_ = false;
};

}  // namespace brigade
