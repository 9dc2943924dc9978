#pragma once

// The replicas of a run as processes: a worker each, started from this program. Each
// sends its reports through a packet pipe, its standard output and error through
// another pipe, its end through a pidfd; one epoll descriptor watches all of them. The
// number of descriptors is constant during the run. Processes are started one after
// another, in the order of the requests, and no call waits for that. One thread.

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <brigade/stage_types.h>
#include "base/owned_fd.h"
#include "pipeline/memory/shared_segments.h"
#include "pipeline/plan/replica_table.h"
#include "pipeline/run/launch/worker_output.h"
#include "pipeline/run/launch/worker_pool.h"

namespace brigade {

class ProcessPool final : public WorkerPool {
 public:
  /// `types`: what the graph was checked with. `environment`: NAME=value, what workers start from.
  /// All arguments outlive the worker pool, and every worker has been collected before the worker
  /// pool goes.
  static Result<std::unique_ptr<ProcessPool>> create(const Plan& plan,
                                                     const SharedSegments& segments,
                                                     const StageTypes& types, ProcessRunner& runner,
                                                     std::vector<std::string> environment);
  /// Ends and collects whoever still runs.
  ~ProcessPool() override;

  Result<void> start() override;
  Result<void> restart(int replica) override;
  int event_fd() const override { return epoll_.get(); }
  std::vector<WorkerEvent> take_events() override;
  void collect() override;
  void end_all() override;
  int running() const override { return running_; }
  void signal(int replica, int signal) override;
  ProcessCondition condition(int replica) override;
  pid_t pid(int replica) const override;

 private:
  struct Worker {
    RunningProcess process;
    OwnedFd reports;
    OwnedFd output;
    LineSplitter lines;
    bool running = false;
    bool to_collect = false;
    bool restarted = false;
  };

  /// What is being started, with its ends of the pipes, closed here once it has them.
  struct Starting {
    int number = 0;
    OwnedFd output;
    OwnedFd reports;
  };

  ProcessPool(const Plan& plan, const SharedSegments& segments, const StageTypes& types,
              ProcessRunner& runner, std::vector<std::string> environment);
  Result<void> start_next();
  Result<void> begin_start(int number);
  Error named(int number, const Error& error) const;
  WorkerRole make_role(int number, int report_fd) const;
  Result<void> watch(int fd, std::uint64_t token);
  void unwatch(OwnedFd& fd);
  void take_started(std::vector<WorkerEvent>& events);
  Result<void> started(int number, RunningProcess process);
  void kill_and_collect(RunningProcess& process);
  bool take_reports(int number, std::vector<WorkerEvent>& events);
  static void print(int number, std::vector<std::string> lines, std::vector<WorkerEvent>& events);
  bool take_output(int number, std::vector<WorkerEvent>& events);
  void take_end(int number, std::vector<WorkerEvent>& events);

  const Plan& plan_;
  const ReplicaTable replicas_;
  const SharedSegments& segments_;
  const StageTypes& types_;
  ProcessRunner& runner_;
  const std::vector<std::string> environment_;
  OwnedFd epoll_;
  ByReplica<Worker> workers_;
  Backtraces backtraces_;
  std::deque<int> to_start_;  // each replica at most once
  std::optional<Starting> starting_;
  bool ending_ = false;
  int running_ = 0;  // and in to_start_, and starting_
};

/// Looks for work before sleeping: none when the replicas' threads are as many as the cores.
int spins_for(const Plan& plan, int cores);

/// The libraries and the contract of a worker whose stage has this type.
void add_stage_type(WorkerRole& role, const StageTypes& types, const std::string& type);
/// The libraries with a type of a source of its stage.
void add_source_type(WorkerRole& role, const StageTypes& types, const std::string& type);

}  // namespace brigade
