#pragma once

// The replicas of a run as threads of this process, over the same channels on one mapping: for
// debuggers and ThreadSanitizer, which is blind across two mappings of one file. A thread cannot be
// killed, so ending everybody makes every claim say "ended"; a thread that is still inside a stage
// after kAbandonAfterNs is given up.

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/owned_fd.h"
#include "pipeline/plan/plan.h"
#include "pipeline/process/crew.h"
#include "pipeline/process/reporting.h"
#include "pipeline/process/segments.h"
#include "stages/api/stage_types.h"

namespace brigade {

inline constexpr std::int64_t kAbandonAfterNs = 3'000'000'000;

class ThreadCrew final : public Crew {
 public:
  /// All arguments outlive the crew.
  static Result<std::unique_ptr<ThreadCrew>> create(const Plan& plan, Segments& segments,
                                                    const StageTypes& types);
  /// Ends everybody and waits. Ends the program when threads were abandoned: they use memory that
  /// would go away here.
  ~ThreadCrew() override;

  Result<void> start() override;
  Result<void> restart(int replica) override;
  int event_fd() const override { return epoll_.get(); }
  std::vector<CrewEvent> take_events() override;
  void end_all() override;
  void signal(int, int) override {}
  ProcessCondition condition(int replica) override {
    const bool ended = members_[static_cast<std::size_t>(replica)].ended;
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
    void push(CrewEvent event);
    std::vector<CrewEvent> take();
    OwnedFd event;

   private:
    std::mutex mutex_;
    std::vector<CrewEvent> events_;
  };

  struct Member {
    int stage = 0;
    int replica = 0;
    bool ended = false;
    std::thread thread;
  };

  ThreadCrew(const Plan& plan, Segments& segments, const StageTypes& types);
  Result<void> open_descriptors();
  void run(int number);
  Result<void> work(int number);

  const Plan& plan_;
  Segments& segments_;
  const StageTypes& types_;
  const SystemClock clock_;
  OwnedFd epoll_;
  OwnedFd timer_;
  Queue queue_;
  std::vector<Member> members_;  // by number in the graph
  int running_ = 0;
  bool abandoned_ = false;
};

}  // namespace brigade
