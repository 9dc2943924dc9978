#pragma once

// The replicas of a run, however they run: as processes (ProcessPool) or as threads
// (ThreadPool). The supervisor starts them, receives their events, and may end them
// all; a test replaces them by a scripted worker pool. All calls from one thread.

#include <cstddef>
#include <string>
#include <variant>
#include <vector>

#include "pipeline/run/launch/process_runner.h"
#include "pipeline/worker/messages.h"

namespace brigade {

/// A line a replica wrote to its standard output or error.
struct Printed {
  std::string line;
};

/// The replica has ended, and what it left in its group has been killed; nothing of it comes after
/// this. Its work can be repaired; then it is collected.
struct Ended {
  Ending ending;
};

/// The replica could not be started; nothing of it comes after this.
struct NotStarted {
  std::string message;  ///< without its name
};

struct WorkerEvent {
  int replica = 0;  ///< number in the graph
  std::variant<Ready, Failed, Logged, Reported, Done, Quarantined, Printed, Ended, NotStarted> what;
};

class WorkerPool {
 public:
  virtual ~WorkerPool() = default;

  /// Has every replica started, without waiting for it. What goes wrong at once is an error, what
  /// goes wrong later a NotStarted. The error names the replica.
  virtual Result<void> start() = 0;
  /// Likewise one again, under its number, after its Ended or NotStarted has been taken. The error
  /// does not name it.
  virtual Result<void> restart(int replica) = 0;
  /// Readable when take_events() has something.
  virtual int event_fd() const = 0;
  /// What has happened since the last call, in order for each replica; never waits.
  virtual std::vector<WorkerEvent> take_events() = 0;
  /// Collects those whose Ended has been taken: closes their pipes and gives their numbers back,
  /// for which nobody's repair need wait. Before they are started again.
  virtual void collect() = 0;
  /// Ends all replicas at once; an Ended for each that has been started still follows, and nobody
  /// is started any more.
  virtual void end_all() = 0;
  /// Replicas that have been started or are about to be, and whose Ended has not been taken.
  virtual int running() const = 0;
  /// To the process of one; threads are left alone.
  virtual void signal(int replica, int signal) = 0;
  /// Of its process; threads always run.
  virtual ProcessCondition condition(int replica) = 0;
  /// 0 where it has none of its own.
  virtual pid_t pid(int replica) const = 0;
};

}  // namespace brigade
