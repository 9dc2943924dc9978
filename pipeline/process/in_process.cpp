#include "pipeline/process/in_process.h"

#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>

#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "base/log.h"
#include "pipeline/process/module_loader.h"
#include "pipeline/process/replica_main.h"
#include "stages/api/chain.h"
#include "transports/stop.h"

namespace brigade {
namespace {

constexpr std::size_t kQueueMax = 4096;  // numbers are left out above; the rest must arrive

Error system_error(const std::string& what) {
  return Error{concat(what, ": ", std::strerror(errno))};
}

bool watch(int epoll, int fd) {
  epoll_event event{};
  event.events = EPOLLIN;
  return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0;
}

CrewEvent event_of(const Report& report) {
  CrewEvent event;
  event.replica = report.replica;
  std::visit([&](const auto& what) { event.what = what; }, report.what);
  return event;
}

}  // namespace

void ThreadCrew::Queue::push(CrewEvent pushed) {
  {
    const std::lock_guard lock(mutex_);
    events_.push_back(std::move(pushed));
  }
  eventfd_write(event.get(), 1);
}

void ThreadCrew::Queue::send(const Report& report) { push(event_of(report)); }

bool ThreadCrew::Queue::try_send(const Report& report) {
  {
    const std::lock_guard lock(mutex_);
    if (events_.size() >= kQueueMax) return false;
  }
  send(report);
  return true;
}

std::vector<CrewEvent> ThreadCrew::Queue::take() {
  eventfd_t count = 0;
  eventfd_read(event.get(), &count);
  const std::lock_guard lock(mutex_);
  return std::exchange(events_, {});
}

ThreadCrew::ThreadCrew(const Plan& plan, Segments& segments, const StageTypes& types)
    : plan_(plan), segments_(segments), types_(types) {
  for (int s = 0; s < static_cast<int>(plan.stages.size()); ++s) {
    for (int r = 0; r < plan.stages[static_cast<std::size_t>(s)].replicas; ++r) {
      Member& member = members_.emplace_back();
      member.stage = s;
      member.replica = r;
    }
  }
}

Result<std::unique_ptr<ThreadCrew>> ThreadCrew::create(const Plan& plan, Segments& segments,
                                                       const StageTypes& types) {
  std::unique_ptr<ThreadCrew> crew(new ThreadCrew(plan, segments, types));
  BRIGADE_TRY(crew->open_descriptors());
  return crew;
}

Result<void> ThreadCrew::open_descriptors() {
  queue_.event.reset(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  timer_.reset(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  epoll_.reset(epoll_create1(EPOLL_CLOEXEC));
  if (queue_.event.get() < 0 || timer_.get() < 0 || epoll_.get() < 0) {
    return system_error("cannot open a descriptor (raise the limit with `ulimit -n`)");
  }
  if (!watch(epoll_.get(), queue_.event.get()) || !watch(epoll_.get(), timer_.get())) {
    return system_error("cannot watch a descriptor (epoll)");
  }
  return {};
}

ThreadCrew::~ThreadCrew() {
  end_all();
  for (Member& member : members_) {
    if (abandoned_ && !member.ended) {
      log_error("a stage does not return, and a thread cannot be ended: the program ends");
      _exit(1);
    }
    if (member.thread.joinable()) member.thread.join();
  }
}

Result<void> ThreadCrew::start() {
  for (int number = 0; number < static_cast<int>(members_.size()); ++number) {
    try {
      members_[static_cast<std::size_t>(number)].thread =
          std::thread([this, number] { run(number); });
    } catch (const std::system_error& exception) {
      return Error{concat("cannot start a thread: ", exception.what(),
                          "; raise the limit on processes (`ulimit -u`) or on "
                          "address space (`ulimit -v`)")};
    }
    ++running_;
  }
  return {};
}

Result<void> ThreadCrew::restart(int) {
  return Error{"threads are not started again; leave --in-process out"};
}

void ThreadCrew::run(int number) {
  const Member& member = members_[static_cast<std::size_t>(number)];
  const PlanStage& stage = plan_.stages[static_cast<std::size_t>(member.stage)];
  const std::string name = concat(stage.name, ".", member.replica).substr(0, 15);
  pthread_setname_np(pthread_self(), name.c_str());
  const bool worked = replica_main(number, queue_, [&] { return work(number); });
  queue_.push({number, Ended{{Ending::Kind::exited, worked ? 0 : 1}}});
}

Result<void> ThreadCrew::work(int number) {
  const Member& member = members_[static_cast<std::size_t>(number)];
  const PlanStage& stage = plan_.stages[static_cast<std::size_t>(member.stage)];
  StageType chain;
  const StageType* const type = find_type_or_chain(types_, stage.type, chain);
  if (type == nullptr) {
    return Error{concat("this program has no stage type \"", stage.type, "\"")};
  }
  ThinningReporter reporter(number, queue_, clock_);
  ReplicaSetup setup;
  setup.plan = &plan_;
  setup.stage = member.stage;
  setup.replica = member.replica;
  setup.control = &segments_.control();
  setup.pools = segments_.row_pools();
  setup.type = type;
  setup.make_stage = body_maker(*type, stage);
  setup.make_producer = producer_maker(*type);
  setup.find_type = [this](const PlanStage& source) { return types_.find(source.type); };
  setup.make_source = [](const StageType& source) { return producer_maker(source)(); };
  setup.reporter = &reporter;
  Replica replica(std::move(setup));
  BRIGADE_TRY(replica.open());
  return run_replica(replica, number, queue_, reporter);
}

std::vector<CrewEvent> ThreadCrew::take_events() {
  std::vector<CrewEvent> events = queue_.take();
  for (const CrewEvent& event : events) {
    if (!std::holds_alternative<Ended>(event.what)) continue;
    members_[static_cast<std::size_t>(event.replica)].ended = true;
    --running_;
  }
  std::uint64_t expirations = 0;
  if (read(timer_.get(), &expirations, sizeof expirations) != sizeof expirations) return events;
  for (std::size_t number = 0; number < members_.size(); ++number) {
    if (members_[number].ended || !members_[number].thread.joinable()) continue;
    abandoned_ = true;
    events.push_back({static_cast<int>(number), Ended{}});
  }
  running_ = 0;
  return events;
}

void ThreadCrew::end_all() {
  abort_all(segments_.control());
  itimerspec after{};
  after.it_value.tv_sec = kAbandonAfterNs / 1'000'000'000;
  timerfd_settime(timer_.get(), 0, &after, nullptr);
}

}  // namespace brigade
