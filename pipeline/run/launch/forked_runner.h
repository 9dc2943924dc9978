#pragma once

// Starts the workers of `exec:` stages by asking a process that forks them, the forker, instead
// of executing a program. The forker has the program's imports (and its dataset), so that a
// worker does not repeat them. It clones with CLONE_PARENT: a worker is this process's child,
// and is watched, ended and collected like those of a Spawner, which starts all other stages.
//
// They communicate through a socket of packets (base/fd_packet.h):
//
//   to the forker     "ID" with descriptors: a memory file with the request, the worker's output,
//                     then those of `keep`
//   from the forker   "hello"           a forker, or its successor, has begun
//                     "started ID PID"  with the worker's pidfd, and a socket of it
//                     "failed ID WHY"
//
// The request is a list of texts, each ended by a zero byte: title, folder, `cpus` and numbers of
// `keep` (with commas between), then the environment. Descriptors arrive under other numbers: the
// forker tells the worker by kMovedVariable (worker/exec_worker.h).
//
// A forker that is killed is replaced by the program, with the same socket. A pending
// start is requested again after "hello", so that a worker may be started twice. A worker
// begins only after a byte arrives through its socket, and ends if the socket is closed:
// one that does not answer the pending start, or whose forker was killed before it could
// answer, never begins. If the program shuts the socket down, starts fail. No call waits.

#include <cstdint>
#include <memory>
#include <optional>

#include "base/fd_packet.h"
#include "base/owned_fd.h"
#include "pipeline/run/launch/process_runner.h"

namespace brigade {

class ForkedRunner final : public ProcessRunner {
 public:
  /// `socket`: this end of it, which is copied. `others`: outlives this.
  static Result<std::unique_ptr<ForkedRunner>> create(int socket, ProcessRunner& others);

  void start(SpawnRequest request) override;
  int started_fd() const override { return ready_.get(); }
  std::optional<Result<RunningProcess>> take_started() override;
  Ending end(const RunningProcess& process) override { return others_.end(process); }
  void reap(RunningProcess& process) override { others_.reap(process); }
  void kill(const RunningProcess& process) override { others_.kill(process); }
  void signal(const RunningProcess& process, int signal) override {
    others_.signal(process, signal);
  }
  void leave(RunningProcess& process) override { others_.leave(process); }

 private:
  explicit ForkedRunner(ProcessRunner& others) : others_(others) {}
  Result<void> ask();
  void fail(const Error& error);
  void hear(FdPacket packet);

  ProcessRunner& others_;
  OwnedFd socket_;
  OwnedFd failed_;  // an eventfd: a start has failed at once
  OwnedFd ready_;   // an epoll descriptor of those, and of the others
  std::uint64_t number_ = 0;
  std::optional<SpawnRequest> asked_;
  std::optional<Result<RunningProcess>> answer_;
  bool over_ = false;  // nobody forks any more
};

}  // namespace brigade
