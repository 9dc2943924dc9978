#pragma once

// The replicas of a run as threads of this process, over the same channels on one mapping: for
// debuggers and ThreadSanitizer, which is blind across two mappings of one file. A thread cannot be
// killed, so ending everybody makes every claim say "ended"; a thread that is still inside a stage
// after kAbandonAfterNs is given up.

#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include <brigade/stage_types.h>
#include "base/clock.h"
#include "base/owned_fd.h"
#include "pipeline/launch/worker_pool.h"
#include "pipeline/memory/shared_segments.h"
#include "pipeline/plan/replica_table.h"
#include "pipeline/plan/resume_point.h"
#include "pipeline/worker/throttled_reporter.h"

namespace brigade {

inline constexpr std::int64_t kAbandonAfterNs = 3'000'000'000;

class ThreadPool final : public WorkerPool {
 public:
  /// All arguments outlive the worker pool.
  static Result<std::unique_ptr<ThreadPool>> create(const Plan& plan, const ResumePoint& resume,
                                                    SharedSegments& segments,
                                                    const StageTypes& types);
  /// Ends everybody and waits. Ends the program when threads were abandoned: they use memory that
  /// would go away here.
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

  /// Some thread has been given up; the program must end without cleaning up.
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

  ThreadPool(const Plan& plan, const ResumePoint& resume, SharedSegments& segments,
             const StageTypes& types);
  Result<void> open_descriptors();
  void run(int number);
  Result<void> work(int number);

  const Plan& plan_;
  const ReplicaTable replicas_;
  const ResumePoint& resume_;
  SharedSegments& segments_;
  const StageTypes& types_;
  const SystemClock clock_;
  OwnedFd epoll_;
  OwnedFd timer_;
  Queue queue_;
  ByReplica<Worker> workers_;
  int running_ = 0;
  bool abandoned_ = false;
};

}  // namespace brigade
