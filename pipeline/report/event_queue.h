#pragma once

// The queue behind Events: the run adds events and never waits longer than
// for another thread's copy of one; a program takes them out. share_of()
// limits its size in bytes; the event of the end always fits. Any thread.

#include <sys/types.h>

#include <deque>
#include <memory>
#include <mutex>
#include <optional>

#include "base/forked.h"
#include "base/owned_fd.h"
#include "pipeline/report/run_output.h"

namespace brigade {

inline constexpr std::int64_t kEventProgressEveryNs = 5'000'000'000;

struct Events::State final : RunOutput {
  static Result<std::shared_ptr<State>> create();

  /// The events of a run, from here to end().
  void begin();
  void end();
  void tell(const Event& event) override;
  std::int64_t progress_every_ns() const override { return kEventProgressEveryNs; }

  /// At most until then on the clock of monotonic_ns(); below 0: as long as it takes.
  Result<std::optional<Event>> next(std::int64_t until_ns);
  int descriptor() const { return ready_.get(); }

 private:
  bool take(std::optional<Event>& event);

  const ForkMark mark_;
  OwnedFd ready_;  // an eventfd: not 0 while there is something to take, or nothing ever will be
  std::mutex mutex_;
  std::deque<Event> waiting_;
  std::size_t waiting_bytes_ = 0;
  std::uint64_t lost_ = 0;  // since the last that was put in
  int runs_ = 0;            // that have begun and have not ended
  bool over_ = false;
};

/// Of a run that is being started: ends when it is destroyed.
class EventsOfRun {
 public:
  explicit EventsOfRun(std::shared_ptr<Events::State> to) : to_(std::move(to)) {
    if (to_) to_->begin();
  }
  EventsOfRun(const EventsOfRun&) = delete;
  EventsOfRun& operator=(const EventsOfRun&) = delete;
  ~EventsOfRun() {
    if (to_) to_->end();
  }
  RunOutput* output() const { return to_.get(); }  ///< null: nobody wants them

 private:
  std::shared_ptr<Events::State> to_;
};

}  // namespace brigade
