#pragma once

// The replicas of a run, however they run: as processes (WorkerCrew) or as threads (ThreadCrew).
// The supervisor starts them, listens to what happens to them, and may end them all; a test puts a
// scripted crew in their place. All calls from one thread.

#include <cstddef>
#include <string>
#include <variant>
#include <vector>

#include "pipeline/process/messages.h"
#include "pipeline/process/process_runner.h"

namespace brigade {

/// A line a replica wrote to its standard output or error.
struct Printed {
  std::string line;
};

/// The replica has ended and been collected; nothing of it comes after this.
struct Ended {
  Ending ending;
};

/// The replica could not be started; nothing of it comes after this.
struct NotStarted {
  std::string message;  ///< names it
};

struct CrewEvent {
  int replica = 0;  ///< number in the graph
  std::variant<Ready, Failed, Said, Reported, Done, Quarantined, Printed, Ended, NotStarted> what;
};

class Crew {
 public:
  virtual ~Crew() = default;

  /// Has every replica started, without waiting for it. What goes wrong at once is an error, what
  /// goes wrong later a NotStarted.
  virtual Result<void> start() = 0;
  /// Likewise one again, under its number, after its Ended or NotStarted has been taken.
  virtual Result<void> restart(int replica) = 0;
  /// Readable when take_events() has something.
  virtual int event_fd() const = 0;
  /// What has happened since the last call, in order for each replica; never waits.
  virtual std::vector<CrewEvent> take_events() = 0;
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
