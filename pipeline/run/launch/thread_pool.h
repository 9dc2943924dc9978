#pragma once

// The replicas of a run as threads of this process, over the same channels on one
// mapping: for debuggers and ThreadSanitizer, which is blind across two mappings of one
// file. A thread cannot be killed, so ending the run makes every claim return "ended";
// a thread that is still inside a stage after kAbandonAfterNs is abandoned. It keeps
// its resources, mainly the run's memory, until it returns or the program ends.

#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include <brigade/stage_types.h>
#include "base/clock.h"
#include "base/owned_fd.h"
#include "pipeline/memory/shared_segments.h"
#include "pipeline/plan/replica_table.h"
#include "pipeline/plan/resume_point.h"
#include "pipeline/run/launch/worker_pool.h"
#include "pipeline/worker/throttled_reporter.h"

namespace brigade {

inline constexpr std::int64_t kAbandonAfterNs = 3'000'000'000;

class ThreadPool final : public WorkerPool {
 public:
  /// `owner`: of the plan, the resume point and the segments.
  static Result<std::unique_ptr<ThreadPool>> create(std::shared_ptr<const void> owner,
                                                    const Plan& plan, const ResumePoint& resume,
                                                    SharedSegments& segments, StageTypes types);
  /// Ends everybody and waits, but not for threads that were given up: a line says so.
  ~ThreadPool() override;

  Result<void> start() override;
  Result<void> restart(int replica) override;
  int event_fd() const override { return epoll_.get(); }
  std::vector<WorkerEvent> take_events() override;
  void collect() override {}
  void end_all() override;
  void signal(int, int) override {}
  ProcessCondition condition(int replica) override {
    const bool ended = workers_[replica].ended;
    return ended ? ProcessCondition::gone : ProcessCondition::runs;
  }
  int running() const override { return running_; }
  pid_t pid(int) const override { return 0; }

  /// Some thread has been given up; a program that ends must do so without cleaning up.
  bool abandoned() const { return abandoned_; }

 private:
  /// Reports of all threads, in order.
  class Queue final : public ReportSink {
   public:
    void send(const Report& report) override;
    bool try_send(const Report& report) override;
    void push(WorkerEvent event);
    std::vector<WorkerEvent> take();
    OwnedFd event;

   private:
    std::mutex mutex_;
    std::vector<WorkerEvent> events_;
  };

  struct Worker {
    bool ended = false;
    std::thread thread;
  };

  /// What threads use: each has a part in it.
  struct Shared {
    const std::shared_ptr<const void> owner;
    const Plan& plan;
    const ResumePoint& resume;
    SharedSegments& segments;
    const StageTypes types;
    const ReplicaTable replicas = ReplicaTable(plan);
    const SystemClock clock = {};
    Queue queue = {};

    void run(int number);
    Result<void> work(int number);
  };

  explicit ThreadPool(std::shared_ptr<Shared> shared);
  Result<void> open_descriptors();

  const std::shared_ptr<Shared> shared_;
  OwnedFd epoll_;
  OwnedFd timer_;
  ByReplica<Worker> workers_;
  int running_ = 0;
  bool abandoned_ = false;
};

}  // namespace brigade
