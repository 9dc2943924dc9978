#include "pipeline/report/event_queue.h"

#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <utility>

#include <brigade/text.h>
#include "base/clock.h"
#include "base/io.h"
#include "base/printable.h"

namespace brigade {
namespace {

std::size_t room_for(const Event& event) {
  if (event.kind == EventKind::ended) return SIZE_MAX;
  return share_of(rank_of(event), kEventsWaitingBytesMax);
}

std::size_t bytes_of(const Event& event) {
  return sizeof(Event) + event.stage.size() + event.message.size() + event.help.size() +
         event.output.size() + event.reason.size();
}

}  // namespace

Result<std::shared_ptr<Events::State>> Events::State::create() {
  auto made = std::make_shared<State>();
  made->ready_.reset(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (made->ready_.get() < 0) return error_of_errno("cannot open a descriptor");
  return made;
}

void Events::State::begin() {
  const std::lock_guard lock(mutex_);
  ++runs_;
  if (!std::exchange(over_, false) || !waiting_.empty()) return;
  eventfd_t count = 0;
  eventfd_read(ready_.get(), &count);
}

void Events::State::end() {
  if (mark_.in_child()) return;
  const std::lock_guard lock(mutex_);
  if (--runs_ > 0) return;
  over_ = true;
  eventfd_write(ready_.get(), 1);
}

void Events::State::tell(const Event& event) {
  Event mine = event;
  if (mine.time_ns == 0) mine.time_ns = utc_ns();
  const std::size_t bytes = bytes_of(mine);
  const std::lock_guard lock(mutex_);
  const std::size_t room = room_for(mine);
  if (bytes > room || waiting_bytes_ > room - bytes) {
    ++lost_;
    return;
  }
  mine.lost = std::exchange(lost_, 0);
  waiting_bytes_ += bytes;
  waiting_.push_back(std::move(mine));
  if (waiting_.size() == 1) eventfd_write(ready_.get(), 1);
}

/// False: there is nothing now.
bool Events::State::take(std::optional<Event>& event) {
  const std::lock_guard lock(mutex_);
  if (waiting_.empty()) return over_;
  event = std::move(waiting_.front());
  waiting_.pop_front();
  waiting_bytes_ -= bytes_of(*event);
  eventfd_t count = 0;
  if (waiting_.empty() && !over_) eventfd_read(ready_.get(), &count);
  return true;
}

Result<std::optional<Event>> Events::State::next(std::int64_t until_ns) {
  if (mark_.in_child()) return Error{"this is a forked child: the events belong to its parent"};
  std::optional<Event> event;
  while (!take(event)) {
    const std::int64_t left = until_ns < 0 ? 0 : until_ns - monotonic_ns();
    if (until_ns >= 0 && left <= 0) return Error{"no event arrived in time", Refusal::interrupted};
    const timespec wait{left / 1'000'000'000, left % 1'000'000'000};
    pollfd ready{ready_.get(), POLLIN, 0};
    ppoll(&ready, 1, until_ns < 0 ? nullptr : &wait, nullptr);
  }
  if (!event) return event;
  for (std::string* text :
       {&event->stage, &event->message, &event->help, &event->output, &event->reason})
    *text = printable(*text);
  return event;
}

Result<Events> Events::open() {
  BRIGADE_ASSIGN(auto state, State::create());
  return Events(std::move(state));
}

Result<std::optional<Event>> Events::next() { return state_->next(-1); }

Result<std::optional<Event>> Events::next_for(std::chrono::nanoseconds timeout) {
  const std::int64_t now = monotonic_ns();
  const std::int64_t most = INT64_MAX - now;
  return state_->next(now + std::clamp<std::int64_t>(timeout.count(), 0, most));
}

int Events::descriptor() const { return state_->descriptor(); }

}  // namespace brigade
