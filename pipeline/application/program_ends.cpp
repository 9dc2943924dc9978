#include "pipeline/application/program_ends.h"

#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include <brigade/text.h>
#include "base/io.h"
#include "base/units.h"

namespace brigade {

std::string hold_timeout_text(std::int64_t ns) {
  return concat("`hold_timeout: ", print_duration(std::chrono::nanoseconds(ns)), "`");
}

Result<std::shared_ptr<ProgramEnds>> ProgramEnds::create(Interrupted interrupted) {
  std::shared_ptr<ProgramEnds> made(new ProgramEnds(std::move(interrupted)));
  made->event_.reset(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  made->timer_.reset(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  if (made->event_.get() < 0 || made->timer_.get() < 0)
    return error_of_errno("cannot open a descriptor");
  return made;
}

void ProgramEnds::wake_at(std::int64_t ns) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  const std::lock_guard lock(mutex_);
  if (wake_at_ns_ != 0 && wake_at_ns_ <= ns) return;
  wake_at_ns_ = std::max<std::int64_t>(ns, 1);  // 0 would be never
  const itimerspec when{{}, {wake_at_ns_ / kSecond, wake_at_ns_ % kSecond}};
  timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &when, nullptr);
}

void ProgramEnds::take_timer() {
  const std::lock_guard lock(mutex_);
  std::uint64_t count = 0;
  wake_at_ns_ = 0;
  static_cast<void>(!read(timer_.get(), &count, sizeof(count)));
}

void ProgramEnds::wake() { eventfd_write(event_.get(), 1); }

void ProgramEnds::done(int replica) {
  {
    const std::lock_guard lock(mutex_);
    done_.push_back(replica);
  }
  wake();
}

std::vector<int> ProgramEnds::take_done() {
  eventfd_t count = 0;
  eventfd_read(event_.get(), &count);
  const std::lock_guard lock(mutex_);
  return std::exchange(done_, {});
}

void ProgramEnds::listen(Listener listener, int readers) {
  const std::lock_guard lock(mutex_);
  listener_ = std::move(listener);
  readers_ = readers;
}

void ProgramEnds::fail(std::string message) {
  if (mark_.in_child()) return;
  const std::lock_guard lock(mutex_);
  if (listener_.failed) listener_.failed(std::move(message));
}

void ProgramEnds::tell(const Event& event) {
  if (mark_.in_child()) return;
  const std::lock_guard lock(mutex_);
  if (listener_.told) listener_.told(event);
}

void ProgramEnds::closed(Closing how) {
  const std::lock_guard lock(mutex_);
  unread_ |= how != Closing::at_its_end;
  if (--readers_ == 0 && unread_ && listener_.unread) listener_.unread(how == Closing::before_held);
}

}  // namespace brigade
