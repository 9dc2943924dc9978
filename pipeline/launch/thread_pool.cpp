#include "pipeline/launch/thread_pool.h"

#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>

#include <utility>

#include <brigade/text.h>
#include "base/io.h"
#include "base/log.h"
#include "base/thread.h"
#include "pipeline/host/module_loader.h"
#include "pipeline/worker/replica_main.h"
#include "stages/detail/fused_stage.h"
#include "transports/stop.h"

namespace brigade {
namespace {

constexpr std::size_t kQueueMax = 4096;  // numbers are left out above; the rest must arrive

bool watch(int epoll, int fd) {
  epoll_event event{};
  event.events = EPOLLIN;
  return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0;
}

WorkerEvent event_of(const Report& report) {
  WorkerEvent event;
  event.replica = report.replica;
  std::visit([&](const auto& what) { event.what = what; }, report.what);
  return event;
}

}  // namespace

void ThreadPool::Queue::push(WorkerEvent pushed) {
  {
    const std::lock_guard lock(mutex_);
    events_.push_back(std::move(pushed));
  }
  eventfd_write(event.get(), 1);
}

void ThreadPool::Queue::send(const Report& report) { push(event_of(report)); }

bool ThreadPool::Queue::try_send(const Report& report) {
  {
    const std::lock_guard lock(mutex_);
    if (events_.size() >= kQueueMax) return false;
  }
  send(report);
  return true;
}

std::vector<WorkerEvent> ThreadPool::Queue::take() {
  eventfd_t count = 0;
  eventfd_read(event.get(), &count);
  const std::lock_guard lock(mutex_);
  return std::exchange(events_, {});
}

ThreadPool::ThreadPool(const Plan& plan, const ResumePoint& resume, SharedSegments& segments,
                       const StageTypes& types)
    : plan_(plan),
      replicas_(plan),
      resume_(resume),
      segments_(segments),
      types_(types),
      workers_(replicas_.size()) {}

Result<std::unique_ptr<ThreadPool>> ThreadPool::create(const Plan& plan, const ResumePoint& resume,
                                                       SharedSegments& segments,
                                                       const StageTypes& types) {
  for (const PlanStage& stage : plan.stages)
    if (stage.writes_on_device())
      return Error{concat("stage ", quote(stage.name), " has `memory: device`, which is between ",
                          "processes: nothing can run it in a thread of this one")};
  std::unique_ptr<ThreadPool> worker_pool(new ThreadPool(plan, resume, segments, types));
  BRIGADE_TRY(worker_pool->open_descriptors());
  return worker_pool;
}

Result<void> ThreadPool::open_descriptors() {
  queue_.event.reset(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  timer_.reset(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  epoll_.reset(epoll_create1(EPOLL_CLOEXEC));
  if (queue_.event.get() < 0 || timer_.get() < 0 || epoll_.get() < 0) {
    return error_of_errno("cannot open a descriptor");
  }
  if (!watch(epoll_.get(), queue_.event.get()) || !watch(epoll_.get(), timer_.get())) {
    return error_of_errno("cannot watch a descriptor (epoll)");
  }
  return {};
}

ThreadPool::~ThreadPool() {
  end_all();
  for (Worker& worker : workers_) {
    if (abandoned_ && !worker.ended) {
      log_error("a stage does not return, and a thread cannot be ended: the program ends");
      _exit(1);
    }
    if (worker.thread.joinable()) worker.thread.join();
  }
}

Result<void> ThreadPool::start() {
  for (const int number : workers_.numbers()) {
    Worker& worker = workers_[number];
    worker.ended = replicas_.stage(number).is_application();  // it is the caller
    if (worker.ended) continue;
    BRIGADE_ASSIGN(worker.thread, start_thread([this, number] { run(number); }));
    ++running_;
  }
  return {};
}

Result<void> ThreadPool::restart(int) {
  return Error{"threads are not started again; leave --in-process out"};
}

void ThreadPool::run(int number) {
  const std::string name = replicas_.name(number).substr(0, 15);
  pthread_setname_np(pthread_self(), name.c_str());
  const bool worked = replica_main(number, queue_, [&] { return work(number); });
  queue_.push({number, Ended{{Ending::Kind::exited, worked ? 0 : 1}}});
}

Result<void> ThreadPool::work(int number) {
  const PlanStage& stage = replicas_.stage(number);
  StageType fused;
  const StageType* const type = find_type_or_fused(types_, stage.type, fused);
  if (type == nullptr) {
    return Error{concat("this program has no stage type \"", stage.type, "\"")};
  }
  ThrottledReporter reporter(number, queue_, clock_);
  ReplicaSetup setup;
  setup.plan = &plan_;
  setup.resume = &resume_;
  setup.stage = replicas_.stage_index(number);
  setup.replica = replicas_.replica(number);
  setup.control = &segments_.control();
  setup.rings = segments_.slot_rings();
  setup.type = type;
  setup.make_stage = body_maker(*type, stage);
  setup.make_producer = producer_maker(*type);
  setup.find_type = [this](const PlanStage& source) { return types_.find(source.type); };
  setup.make_source = [](const StageType& source) { return producer_maker(source)(); };
  setup.reporter = &reporter;
  BRIGADE_ASSIGN(setup.shared,
                 map_shared_tensors(plan_, stage, setup.replica, segments_.shared_grants(stage)));
  Replica replica(std::move(setup));
  BRIGADE_TRY(replica.open());
  return run_replica(replica, number, queue_, reporter);
}

std::vector<WorkerEvent> ThreadPool::take_events() {
  std::vector<WorkerEvent> events = queue_.take();
  for (const WorkerEvent& event : events) {
    if (!std::holds_alternative<Ended>(event.what)) continue;
    workers_[event.replica].ended = true;
    --running_;
  }
  std::uint64_t expirations = 0;
  if (read(timer_.get(), &expirations, sizeof expirations) != sizeof expirations) return events;
  for (const int number : workers_.numbers()) {
    if (workers_[number].ended || !workers_[number].thread.joinable()) continue;
    abandoned_ = true;
    events.push_back({number, Ended{}});
  }
  running_ = 0;
  return events;
}

void ThreadPool::end_all() {
  abort_all(segments_.control());
  itimerspec after{};
  after.it_value.tv_sec = kAbandonAfterNs / 1'000'000'000;
  timerfd_settime(timer_.get(), 0, &after, nullptr);
}

}  // namespace brigade
