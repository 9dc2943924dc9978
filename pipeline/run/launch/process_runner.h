#pragma once

// Starting, watching and ending worker processes, as an interface, so that all code that uses it
// is tested without processes. The implementation that starts real ones is Spawner (spawner.h).

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include <brigade/result.h>

namespace brigade {

/// One process to start; it runs this program again, or another one.
struct SpawnRequest {
  std::string title;                     ///< argv[0], what `ps` shows
  std::vector<std::string> command;      ///< another program: its path, its arguments; no title
  std::string folder;                    ///< its working directory; empty: this process's
  std::vector<std::string> environment;  ///< NAME=value, complete
  std::vector<int> keep;  ///< descriptors it inherits under their numbers; no other but 0, 1, 2
  int output = -1;        ///< becomes its standard output and error
  std::vector<int> cpus;  ///< it may run on these only; empty: as this process
};

/// A process that has been started.
struct RunningProcess {
  pid_t pid = -1;
  int pidfd = -1;  ///< readable once it has ended; closed by reap()
};

/// How a process ended.
struct Ending {
  enum class Kind { exited, killed, unknown } kind = Kind::unknown;
  int code = 0;  ///< exit code, or number of the signal
  bool clean() const { return kind == Kind::exited && code == 0; }
};

/// "was killed by SIGSEGV", "exited with code 3", "ended, cause unknown".
std::string ending_text(const Ending& ending);

/// What a process that has not been collected is doing.
enum class ProcessCondition { runs, stopped, traced, gone };

/// From /proc; `gone` also where that cannot be read.
ProcessCondition condition_of(pid_t pid);

/// All calls from one thread.
class ProcessRunner {
 public:
  virtual ~ProcessRunner() = default;

  /// Has a process started and waits for nothing; its descriptors stay open until the answer is
  /// taken. One at a time.
  virtual void start(SpawnRequest request) = 0;
  /// Readable when take_started() has an answer.
  virtual int started_fd() const = 0;
  /// What became of the last start(); nothing while that is under way, or has been taken.
  virtual std::optional<Result<RunningProcess>> take_started() = 0;
  /// How a process whose pidfd is readable has ended; what it has left in its group goes. It keeps
  /// its number until it is collected.
  virtual Ending end(const RunningProcess& process) = 0;
  /// Collects it and closes the pidfd.
  virtual void reap(RunningProcess& process) = 0;
  /// SIGKILL; nothing when it has ended already.
  virtual void kill(const RunningProcess& process) = 0;
  /// Another signal; likewise.
  virtual void signal(const RunningProcess& process, int signal) = 0;
  /// For one that does not end, killed as it is: a driver holds it. It is collected when it ends,
  /// and nobody waits for that.
  virtual void leave(RunningProcess& process) = 0;
};

}  // namespace brigade
