#pragma once

// Starts nothing: remembers what it was asked to start, and lets a test write and end in the place
// of each process.

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/owned_fd.h"
#include "pipeline/run/launch/process_runner.h"
#include "pipeline/worker/messages.h"
#include "pipeline/worker/throttled_reporter.h"

namespace brigade {

class FakeRunner final : public ProcessRunner {
 public:
  struct Started {
    SpawnRequest request;
    WorkerRole role;
    int pidfd = -1;
    int output = -1;  // the worker's ends
    int reports = -1;
    Ending ending;
    bool killed = false;
    bool reaped = false;
  };
  std::vector<Started> started;
  std::size_t fail_at = ~std::size_t{0};  ///< this start is an error, once

  void start(SpawnRequest request) override {
    EXPECT_FALSE(answer_.has_value()) << "one at a time";
    answer_ = begin(request);
    if (!held) eventfd_write(started_.get(), 1);
  }
  /// The answer to start() comes only when it is let go.
  bool held = false;
  void let_go() {
    held = false;
    eventfd_write(started_.get(), 1);
  }
  int started_fd() const override { return started_.get(); }
  std::optional<Result<RunningProcess>> take_started() override {
    eventfd_t count = 0;
    if (eventfd_read(started_.get(), &count) != 0) return std::nullopt;
    return std::exchange(answer_, std::nullopt);
  }
  /// As the process itself sees it: it may be at work before its start has been answered.
  Result<RunningProcess> begin(const SpawnRequest& request) {
    if (started.size() == fail_at) {
      fail_at = ~std::size_t{0};
      return Error{"no more processes"};
    }
    Started& process = started.emplace_back();
    process.request = request;
    process.role = role_of(request);
    process.pidfd = eventfd(0, EFD_CLOEXEC);
    process.output = dup(request.output);
    process.reports = dup(process.role.report_fd);
    return RunningProcess{5000 + static_cast<pid_t>(started.size()), process.pidfd};
  }

  Ending end(const RunningProcess& running) override {
    const auto process = find(running);
    return process == started.end() ? Ending{} : process->ending;
  }
  void reap(RunningProcess& running) override {
    const auto process = find(running);
    if (process == started.end()) return;
    process->reaped = true;
    close(running.pidfd);
    running.pidfd = -1;
  }

  void kill(const RunningProcess& running) override {
    for (std::size_t i = 0; i < started.size(); ++i) {
      if (started[i].pidfd != running.pidfd || started[i].reaped) continue;
      started[i].killed = true;
      end(i, {Ending::Kind::killed, 9});
    }
  }

  void leave(RunningProcess& running) override {
    left.push_back(running.pid);
    running.pidfd = -1;
  }
  std::vector<pid_t> left;

  void signal(const RunningProcess& running, int signal) override {
    signals.emplace_back(running.pid, signal);
  }
  std::vector<std::pair<pid_t, int>> signals;

  /// What process `i` does.
  void report(std::size_t i, const Report& report) { PipeSink(started[i].reports).send(report); }
  void print(std::size_t i, const std::string& text) {
    EXPECT_EQ(write(started[i].output, text.data(), text.size()),
              static_cast<ssize_t>(text.size()));
  }
  void end(std::size_t i, const Ending& ending) {
    started[i].ending = ending;
    close(started[i].output);
    close(started[i].reports);
    started[i].output = started[i].reports = -1;
    eventfd_write(started[i].pidfd, 1);
  }

 private:
  OwnedFd started_{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  std::optional<Result<RunningProcess>> answer_;

  std::vector<Started>::iterator find(const RunningProcess& running) {
    return std::find_if(started.begin(), started.end(), [&](const Started& process) {
      return process.pidfd == running.pidfd && !process.reaped;
    });
  }

  static WorkerRole role_of(const SpawnRequest& request) {
    const std::string start = std::string(kRoleVariable) + "=";
    for (const std::string& entry : request.environment) {
      if (entry.starts_with(start)) return parse_role(entry.substr(start.size())).value();
    }
    return {};
  }
};

}  // namespace brigade
