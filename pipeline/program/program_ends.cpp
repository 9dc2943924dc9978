#include "pipeline/program/program_ends.h"

#include <sys/eventfd.h>

#include <utility>

#include "base/io.h"

namespace brigade {

Result<std::shared_ptr<ProgramEnds>> ProgramEnds::create() {
  std::shared_ptr<ProgramEnds> made(new ProgramEnds());
  made->event_.reset(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (made->event_.get() < 0) return error_of_errno("cannot open a descriptor");
  return made;
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

void ProgramEnds::closed(Closing how) {
  const std::lock_guard lock(mutex_);
  unread_ |= how != Closing::at_its_end;
  if (--readers_ == 0 && unread_ && listener_.unread) listener_.unread(how == Closing::before_held);
}

}  // namespace brigade
