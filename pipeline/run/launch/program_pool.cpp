#include "pipeline/run/launch/program_pool.h"

#include <sys/epoll.h>
#include <unistd.h>

#include <utility>

#include "base/io.h"
#include "transports/stop.h"

namespace brigade {

std::set<int> program_replicas(const Plan& plan) {
  std::set<int> replicas;
  for (const PlanStage& stage : plan.stages)
    if (stage.is_application()) replicas.insert(stage.first_replica);
  return replicas;
}

ProgramPool::ProgramPool(std::unique_ptr<WorkerPool> others, std::set<int> replicas,
                         std::shared_ptr<ProgramEnds> ends, Control<SystemPolicy>& control)
    : others_(std::move(others)),
      replicas_(std::move(replicas)),
      ends_(std::move(ends)),
      control_(control) {}

Result<std::unique_ptr<ProgramPool>> ProgramPool::create(std::unique_ptr<WorkerPool> others,
                                                         std::set<int> replicas,
                                                         std::shared_ptr<ProgramEnds> ends,
                                                         Control<SystemPolicy>& control,
                                                         std::function<void()> tend) {
  std::unique_ptr<ProgramPool> made(
      new ProgramPool(std::move(others), std::move(replicas), std::move(ends), control));
  made->epoll_.reset(epoll_create1(EPOLL_CLOEXEC));
  if (made->epoll_.get() < 0) return error_of_errno("cannot watch a descriptor (epoll)");
  made->tend_ = std::move(tend);
  for (const int fd : {made->others_->event_fd(), made->ends_->fd(), made->ends_->timer_fd()}) {
    epoll_event event{};
    event.events = EPOLLIN;
    if (epoll_ctl(made->epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0)
      return error_of_errno("cannot watch a descriptor (epoll)");
  }
  return made;
}

Result<void> ProgramPool::start() {
  BRIGADE_TRY(others_->start());
  open_ = replicas_;
  begins_ = true;
  ends_->wake();
  return {};
}

Result<void> ProgramPool::restart(int replica) {
  if (is_program(replica)) return Error{"a program cannot be restarted"};
  return others_->restart(replica);
}

std::vector<WorkerEvent> ProgramPool::take_events() {
  ends_->take_timer();
  if (tend_) tend_();
  std::vector<WorkerEvent> events = others_->take_events();
  const std::vector<int> done = ends_->take_done();
  if (std::exchange(begins_, false))
    for (const int replica : open_) events.push_back({replica, Ready{}});
  for (const int replica : done) {
    if (open_.erase(replica) == 0) continue;
    events.push_back({replica, Done{}});
    events.push_back({replica, Ended{{Ending::Kind::exited, 0}}});
  }
  if (ending_)
    for (const int replica : std::exchange(open_, {}))
      events.push_back({replica, Ended{{Ending::Kind::exited, 0}}});
  return events;
}

void ProgramPool::end_all() {
  others_->end_all();
  abort_all(control_);
  ending_ = true;
  ends_->wake();
}

void ProgramPool::signal(int replica, int signal) {
  if (!is_program(replica)) others_->signal(replica, signal);
}

ProcessCondition ProgramPool::condition(int replica) {
  if (!is_program(replica)) return others_->condition(replica);
  return open_.contains(replica) ? ProcessCondition::runs : ProcessCondition::gone;
}

pid_t ProgramPool::pid(int replica) const {
  return is_program(replica) ? getpid() : others_->pid(replica);
}

}  // namespace brigade
