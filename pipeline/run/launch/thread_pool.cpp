#include "pipeline/run/launch/thread_pool.h"

#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>

#include <utility>

#include <brigade/text.h>
#include "base/io.h"
#include "base/log.h"
#include "base/thread.h"
#include "pipeline/worker/module_loader.h"
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

ThreadPool::ThreadPool(std::shared_ptr<Shared> shared)
    : shared_(std::move(shared)), workers_(shared_->replicas.size()) {}

Result<std::unique_ptr<ThreadPool>> ThreadPool::create(std::shared_ptr<const void> owner,
                                                       const Plan& plan, const ResumePoint& resume,
                                                       SharedSegments& segments, StageTypes types) {
  for (const PlanStage& stage : plan.stages)
    if (stage.writes_on_device())
      return Error{concat("stage ", quote(stage.name), " has `memory: device`, which needs ",
                          "separate processes and cannot run in threads")};
  std::unique_ptr<ThreadPool> worker_pool(new ThreadPool(std::shared_ptr<Shared>(
      new Shared{std::move(owner), plan, resume, segments, std::move(types)})));
  BRIGADE_TRY(worker_pool->open_descriptors());
  return worker_pool;
}

Result<void> ThreadPool::open_descriptors() {
  OwnedFd& told = shared_->queue.event;
  told.reset(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  timer_.reset(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  epoll_.reset(epoll_create1(EPOLL_CLOEXEC));
  if (told.get() < 0 || timer_.get() < 0 || epoll_.get() < 0) {
    return error_of_errno("cannot open a descriptor");
  }
  if (!watch(epoll_.get(), told.get()) || !watch(epoll_.get(), timer_.get())) {
    return error_of_errno("cannot watch a descriptor (epoll)");
  }
  return {};
}

ThreadPool::~ThreadPool() {
  end_all();
  for (Worker& worker : workers_) {
    if (!worker.thread.joinable()) continue;
    if (worker.ended || !abandoned_) {
      worker.thread.join();
      continue;
    }
    log_error(
        "a stage does not return, and a thread cannot be killed: its memory stays allocated until "
        "it returns or the program ends");
    worker.thread.detach();
  }
}

Result<void> ThreadPool::start() {
  for (const int number : workers_.numbers()) {
    Worker& worker = workers_[number];
    worker.ended = shared_->replicas.stage(number).is_application();  // it is the caller
    if (worker.ended) continue;
    BRIGADE_ASSIGN(worker.thread,
                   start_thread([shared = shared_, number] { shared->run(number); }));
    ++running_;
  }
  return {};
}

Result<void> ThreadPool::restart(int) {
  return Error{"threads cannot be restarted; omit --in-process"};
}

void ThreadPool::Shared::run(int number) {
  const std::string name = replicas.name(number).substr(0, 15);
  pthread_setname_np(pthread_self(), name.c_str());
  const bool worked = replica_main(number, queue, [&] { return work(number); });
  queue.push({number, Ended{{Ending::Kind::exited, worked ? 0 : 1}}});
}

Result<void> ThreadPool::Shared::work(int number) {
  const PlanStage& stage = replicas.stage(number);
  StageType fused;
  const StageType* const type = find_type_or_fused(types, stage.type, fused);
  if (type == nullptr) {
    return Error{concat("this program has no stage type \"", stage.type, "\"")};
  }
  ThrottledReporter reporter(number, queue, clock);
  ReplicaSetup setup;
  setup.plan = &plan;
  setup.resume = &resume;
  setup.stage = replicas.stage_index(number);
  setup.replica = replicas.replica(number);
  setup.control = &segments.control();
  setup.rings = segments.slot_rings();
  setup.type = type;
  setup.make_stage = body_maker(*type, stage);
  setup.make_producer = producer_maker(*type);
  setup.find_type = [this](const PlanStage& source) { return types.find(source.type); };
  setup.make_source = [](const StageType& source) { return producer_maker(source)(); };
  setup.reporter = &reporter;
  BRIGADE_ASSIGN(setup.shared,
                 map_shared_tensors(plan, stage, setup.replica, segments.shared_grants(stage)));
  Replica replica(std::move(setup));
  BRIGADE_TRY(replica.open());
  return run_replica(replica, number, queue, reporter);
}

std::vector<WorkerEvent> ThreadPool::take_events() {
  std::vector<WorkerEvent> events = shared_->queue.take();
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
  abort_all(shared_->segments.control());
  itimerspec after{};
  after.it_value.tv_sec = kAbandonAfterNs / 1'000'000'000;
  timerfd_settime(timer_.get(), 0, &after, nullptr);
}

}  // namespace brigade
