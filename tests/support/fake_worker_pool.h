#pragma once

// A worker pool without processes: it reports what a test tells it, one step each time the
// supervisor looks. A step may also do something in between, such as moving the clock or asking for
// a stop.

#include <sys/eventfd.h>

#include <deque>
#include <functional>

#include "base/owned_fd.h"
#include "pipeline/run/launch/worker_pool.h"

namespace brigade {

class FakeWorkerPool final : public WorkerPool {
 public:
  explicit FakeWorkerPool(int replicas)
      : replicas_(replicas), ended_(static_cast<std::size_t>(replicas)) {}

  /// One look of the supervisor: these events, after `act`.
  void step(
      std::vector<WorkerEvent> events, std::function<void()> act = [] {}) {
    steps_.push_back({std::move(events), std::move(act)});
  }
  /// Everybody opens, sources with `size`; then everybody is done and ends.
  void all_ready(std::optional<std::uint64_t> size) {
    std::vector<WorkerEvent> events;
    for (int r = 0; r < replicas_; ++r) events.push_back({r, Ready{size}});
    step(events);
  }
  void all_done() {
    std::vector<WorkerEvent> events;
    for (int r = 0; r < replicas_; ++r) {
      events.push_back({r, Done{}});
      events.push_back({r, Ended{{Ending::Kind::exited, 0}}});
    }
    step(events);
  }

  bool was_ended() const { return ended_all_; }

  Result<void> start() override {
    if (!start_error.empty()) return Error{start_error};
    running_ = replicas_;
    return {};
  }
  Result<void> restart(int replica) override {
    if (!restart_errors.empty()) {
      Error error{restart_errors.front()};
      restart_errors.pop_front();
      return error;
    }
    restarted.push_back(replica);
    ended_[replica] = false;
    ++running_;
    return {};
  }
  void collect() override { ++collected; }
  int event_fd() const override { return always_.get(); }
  std::vector<WorkerEvent> take_events() override {
    std::vector<WorkerEvent> events;
    if (!steps_.empty()) {
      Step step = std::move(steps_.front());
      steps_.pop_front();
      step.act();
      events = std::move(step.events);
    } else if (ended_all_) {
      for (int r = 0; r < replicas_; ++r) {
        if (!ended_[r]) events.push_back({r, Ended{{Ending::Kind::killed, 9}}});
      }
    }
    for (const WorkerEvent& event : events) {
      if (!std::holds_alternative<Ended>(event.what) &&
          !std::holds_alternative<NotStarted>(event.what))
        continue;
      ended_[event.replica] = true;
      --running_;
    }
    return events;
  }
  void end_all() override { ended_all_ = true; }
  int running() const override { return running_; }
  void signal(int replica, int signal) override { signals.emplace_back(replica, signal); }
  ProcessCondition condition(int replica) override {
    return conditions.empty() ? ProcessCondition::runs : conditions[replica];
  }
  std::vector<std::pair<int, int>> signals;
  ByReplica<ProcessCondition> conditions;  ///< empty: all run
  pid_t pid(int replica) const override { return 1000 + replica; }

  std::string start_error;
  std::deque<std::string> restart_errors;  ///< of the next ones, one each
  std::vector<int> restarted;
  int collected = 0;  // calls

 private:
  struct Step {
    std::vector<WorkerEvent> events;
    std::function<void()> act;
  };

  int replicas_;
  int running_ = 0;
  bool ended_all_ = false;
  ByReplica<bool> ended_;
  std::deque<Step> steps_;
  OwnedFd always_{eventfd(1, EFD_CLOEXEC)};  // readable: there is always a step
};

}  // namespace brigade
