#pragma once

// Starts workers: this program again, or the program of `exec:`, in a separate process
// that ends with the supervisor. The kernel sends the death signal when the starting
// *thread* ends, so one thread starts all workers and outlives them; a Spawner must be
// destroyed only after every process has been reaped or left. That thread also waits for
// vfork and exec, so that the caller need not. If a process was left, or is still being
// started, the thread continues without the Spawner until that process has ended, too.
//
// A child that borrows the supervisor's memory (as by vfork, on a stack of its own), then system
// calls only, then exec: everything the child needs is prepared before. The kernel returns the
// pidfd with the process, so that it cannot belong to another process. posix_spawn cannot set
// the death signal, and a worker whose supervisor is killed before that would survive.
//
// Every process leads a separate group, which is killed before the process is
// collected: its children do not outlive it, unless they have left the group.

#include <memory>

#include "pipeline/run/launch/process_runner.h"

namespace brigade {

/// How long a Spawner's end waits for those that were left.
inline constexpr int kLeftTimeoutMs = 500;

class Spawner final : public ProcessRunner {
 public:
  /// `program`: what is executed; normally this very program. Starts the thread.
  static Result<std::unique_ptr<Spawner>> create(std::string program = "/proc/self/exe");
  ~Spawner() override;

  void start(SpawnRequest request) override;
  int started_fd() const override;
  std::optional<Result<RunningProcess>> take_started() override;
  Ending end(const RunningProcess& process) override;
  void reap(RunningProcess& process) override;
  void kill(const RunningProcess& process) override;
  void signal(const RunningProcess& process, int signal) override;
  void leave(RunningProcess& process) override;

 private:
  Spawner();
  struct Thread;
  std::shared_ptr<Thread> thread_;
};

}  // namespace brigade
