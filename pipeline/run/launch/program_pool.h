#pragma once

// The replicas of a graph with stages of the program itself (applications):
// those already run, are ready from the start, and end when the program has
// received all their samples. Another worker pool runs the other stages.

#include <functional>
#include <memory>
#include <set>
#include <vector>

#include "pipeline/application/program_ends.h"
#include "pipeline/plan/plan.h"
#include "pipeline/run/launch/worker_pool.h"
#include "transports/layout.h"

namespace brigade {

/// The replicas that are the program's, by number in the graph.
std::set<int> program_replicas(const Plan& plan);

class ProgramPool final : public WorkerPool {
 public:
  /// `others` starts all but `replicas`; `control` outlives the worker pool. `tend`: what is to be
  /// done for inputs whenever the supervisor wakes up.
  static Result<std::unique_ptr<ProgramPool>> create(std::unique_ptr<WorkerPool> others,
                                                     std::set<int> replicas,
                                                     std::shared_ptr<ProgramEnds> ends,
                                                     Control<SystemPolicy>& control,
                                                     std::function<void()> tend = {});

  Result<void> start() override;
  Result<void> restart(int replica) override;
  int event_fd() const override { return epoll_.get(); }
  std::vector<WorkerEvent> take_events() override;
  void collect() override { others_->collect(); }
  /// The program's calls find that everything has ended.
  void end_all() override;
  int running() const override { return others_->running() + static_cast<int>(open_.size()); }
  void signal(int replica, int signal) override;
  ProcessCondition condition(int replica) override;
  pid_t pid(int replica) const override;

 private:
  ProgramPool(std::unique_ptr<WorkerPool> others, std::set<int> replicas,
              std::shared_ptr<ProgramEnds> ends, Control<SystemPolicy>& control);
  bool is_program(int replica) const { return replicas_.contains(replica); }

  std::unique_ptr<WorkerPool> others_;
  const std::set<int> replicas_;
  std::shared_ptr<ProgramEnds> ends_;
  Control<SystemPolicy>& control_;
  std::function<void()> tend_;
  OwnedFd epoll_;
  std::set<int> open_;   // those that have not ended
  bool begins_ = false;  // they are to be told ready
  bool ending_ = false;
};

}  // namespace brigade
