#include "pipeline/run/launch/process_pool.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <utility>

#include <brigade/text.h>
#include "base/io.h"
#include "pipeline/records/source_id.h"
#include "pipeline/run/launch/wait_to_read.h"
#include "pipeline/run/launch/worker_environment.h"
#include "pipeline/worker/module_loader.h"
#include "pipeline/worker/plugin_loader.h"
#include "stages/detail/fused_stage.h"

namespace brigade {
namespace {

constexpr int kSpins = 200;
constexpr int kOutputReadsMax = 16;  // of one replica before the others have their turn
constexpr int kEventsMax = 64;

enum class Source : std::uint64_t { report, output, end, started };

std::uint64_t token(Source source, int number) {
  return static_cast<std::uint64_t>(source) << 32 | static_cast<std::uint32_t>(number);
}

Source source_of(const epoll_event& event) { return static_cast<Source>(event.data.u64 >> 32); }

/// A pipe from a worker, with its own end of it.
Result<void> open_pipe(int flags, OwnedFd& ours, OwnedFd& workers) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC | flags) != 0)
    return error_of_errno("cannot open a pipe for its output");
  ours.reset(ends[0]);
  workers.reset(ends[1]);
  fcntl(ends[0], F_SETFL, flags | O_NONBLOCK);
  return {};
}

/// Those that the replicas share: what they are bound to where all are, else this process's.
int shared_cores(const Plan& plan) {
  std::set<int> bound;
  for (const PlanStage& stage : plan.stages) bound.insert(stage.cpus.begin(), stage.cpus.end());
  const bool all = std::none_of(plan.stages.begin(), plan.stages.end(),
                                [](const PlanStage& stage) { return stage.cpus.empty(); });
  if (all) return static_cast<int>(bound.size());
  cpu_set_t cpus;
  const bool known = sched_getaffinity(0, sizeof cpus, &cpus) == 0;
  return known ? CPU_COUNT(&cpus) : 1;
}

}  // namespace

int spins_for(const Plan& plan, int cores) {
  int threads = 1;  // the supervisor's
  for (const PlanStage& stage : plan.stages) threads += stage.replicas * stage.threads;
  return threads < cores ? kSpins : 0;
}

namespace {

void add_libraries(std::vector<std::string>& libraries, const StageType& type) {
  for (const StageType* link : parts_of(type)) {
    if (is_of_plugin(*link) &&
        std::find(libraries.begin(), libraries.end(), link->module) == libraries.end())
      libraries.push_back(link->module);
  }
}

}  // namespace

void add_stage_type(WorkerRole& role, const StageTypes& types, const std::string& type) {
  StageType fused;
  const StageType* const found = find_type_or_fused(types, type, fused);
  if (found == nullptr) return;
  role.contract = found->contract.hash();
  add_libraries(role.libraries, *found);
}

void add_source_type(WorkerRole& role, const StageTypes& types, const std::string& type) {
  const StageType* const found = types.find(type);
  if (found != nullptr) add_libraries(role.source_libraries, *found);
}

ProcessPool::ProcessPool(const Plan& plan, const SharedSegments& segments, const StageTypes& types,
                         ProcessRunner& runner, std::vector<std::string> environment)
    : plan_(plan),
      replicas_(plan),
      segments_(segments),
      types_(types),
      runner_(runner),
      environment_(environment_of_rank(std::move(environment), plan.shard)),
      workers_(replicas_.size()) {}

Result<std::unique_ptr<ProcessPool>> ProcessPool::create(const Plan& plan,
                                                         const SharedSegments& segments,
                                                         const StageTypes& types,
                                                         ProcessRunner& runner,
                                                         std::vector<std::string> environment) {
  std::unique_ptr<ProcessPool> worker_pool(
      new ProcessPool(plan, segments, types, runner, std::move(environment)));
  worker_pool->epoll_.reset(epoll_create1(EPOLL_CLOEXEC));
  if (worker_pool->epoll_.get() < 0) return error_of_errno("cannot watch processes (epoll)");
  BRIGADE_TRY(worker_pool->watch(runner.started_fd(), token(Source::started, 0)));
  return worker_pool;
}

ProcessPool::~ProcessPool() {
  end_all();
  while (starting_) {
    wait_to_read(runner_.started_fd(), -1);
    std::vector<WorkerEvent> events;
    take_started(events);
  }
  collect();
  for (Worker& worker : workers_)
    if (worker.running) kill_and_collect(worker.process);
}

void ProcessPool::kill_and_collect(RunningProcess& process) {
  runner_.kill(process);
  wait_to_read(process.pidfd, -1);
  runner_.end(process);
  runner_.reap(process);
}

Result<void> ProcessPool::watch(int fd, std::uint64_t what) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = what;
  if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) == 0) return {};
  return error_of_errno("cannot watch a descriptor (epoll)");
}

// Closing is not enough: a process that is being started holds copies of all descriptors until its
// exec is through, and events of the dead would be taken for its successor's.
void ProcessPool::unwatch(OwnedFd& fd) {
  if (fd.get() >= 0) epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd.get(), nullptr);
  fd.reset();
}

Result<void> ProcessPool::start() {
  for (const int number : workers_.numbers())
    if (!replicas_.stage(number).is_application()) to_start_.push_back(number);
  running_ = static_cast<int>(to_start_.size());
  const int first = to_start_.empty() ? 0 : to_start_.front();
  const auto begun = start_next();
  return begun ? begun : named(first, begun.error());
}

Result<void> ProcessPool::restart(int replica) {
  Worker& worker = workers_[replica];
  worker.restarted = true;
  worker.lines = {};
  to_start_.push_back(replica);
  ++running_;
  return start_next();
}

Error ProcessPool::named(int number, const Error& error) const {
  return error.within(replicas_.title(number));
}

WorkerRole ProcessPool::make_role(int number, int report_fd) const {
  const PlanStage& stage = replicas_.stage(number);
  WorkerRole role;
  role.name = replicas_.name(number);
  role.stage = replicas_.stage_index(number);
  role.replica = replicas_.replica(number);
  role.number = number;
  role.supervisor = getpid();
  role.control_fd = segments_.control_fd();
  role.plan_fd = segments_.plan_fd();
  role.report_fd = report_fd;
  add_stage_type(role, types_, stage.type);
  for (const QueueNumber queue : stage.queues.numbers()) {
    const PlanStage& source = id_source(plan_, stage, queue);
    add_source_type(role, types_, source.type);
    for (const PlanStage& part : source.parts) add_source_type(role, types_, part.type);
  }
  role.spins = spins_for(plan_, shared_cores(plan_));
  role.shared = segments_.shared_grants(stage);
  role.device = segments_.device_grants(stage);
  if (stage.has_ring) {
    const int fd = segments_.ring_fd(role.stage, MapMode::read_write);
    role.rings.push_back({role.stage, fd, true, segments_.cache_fd(role.stage)});
  }
  for (const PlanQueue& queue : stage.queues) {
    for (const PlanInput& input : queue.inputs) {
      const RingGrant grant{input.stage, segments_.ring_fd(input.stage, MapMode::read_only), false,
                            -1};
      if (std::find(role.rings.begin(), role.rings.end(), grant) == role.rings.end()) {
        role.rings.push_back(grant);
      }
    }
  }
  return role;
}

/// The next in turn, unless one is under way. Error: of that replica, which is not started.
Result<void> ProcessPool::start_next() {
  if (starting_ || to_start_.empty()) return {};
  const int number = to_start_.front();
  to_start_.pop_front();
  const auto begun = begin_start(number);
  if (begun) return {};
  --running_;
  return begun.error();
}

Result<void> ProcessPool::begin_start(int number) {
  Worker& worker = workers_[number];
  const PlanStage& stage = replicas_.stage(number);
  worker.process = {0, -1};  // not that of its predecessor
  Starting starting{number, {}, {}};
  BRIGADE_TRY(open_pipe(0, worker.output, starting.output));
  BRIGADE_TRY(open_pipe(O_DIRECT, worker.reports, starting.reports));

  const WorkerRole role = make_role(number, starting.reports.get());
  SpawnRequest request;
  request.title = concat("brigade: ", role.name);
  request.environment =
      worker_environment(environment_, stage, print_role(role), worker.restarted, core_library());
  request.keep = {role.control_fd, role.plan_fd, role.report_fd};
  for (const RingGrant& grant : role.rings) {
    request.keep.push_back(grant.fd);
    if (grant.cache_fd >= 0) request.keep.push_back(grant.cache_fd);
  }
  for (const SharedGrant& grant : role.shared) request.keep.push_back(grant.fd);
  for (const DeviceGrant& grant : role.device) request.keep.push_back(grant.fd);
  request.output = starting.output.get();
  request.command = stage.exec;
  request.folder = stage.exec_folder;
  request.cpus = stage.cpus;
  starting_ = std::move(starting);
  runner_.start(std::move(request));
  return {};
}

std::vector<WorkerEvent> ProcessPool::take_events() {
  epoll_event ready[kEventsMax];
  const int count = epoll_wait(epoll_.get(), ready, kEventsMax, 0);
  // The dead first: their repair waits for no pipe to be closed.
  std::stable_partition(ready, ready + std::max(count, 0),
                        [](const epoll_event& event) { return source_of(event) == Source::end; });
  std::vector<WorkerEvent> events;
  for (int i = 0; i < count; ++i) {
    const Source source = source_of(ready[i]);
    const int number = static_cast<int>(ready[i].data.u64 & 0xffffffff);
    if (source == Source::end) take_end(number, events);
    if (source == Source::started) take_started(events);
    Worker& worker = workers_[number];
    if (!worker.running) continue;
    if (source == Source::report && take_reports(number, events)) unwatch(worker.reports);
    if (source == Source::output && take_output(number, events)) unwatch(worker.output);
  }
  return events;
}

void ProcessPool::take_started(std::vector<WorkerEvent>& events) {
  auto answer = runner_.take_started();
  if (!answer || !starting_) return;
  const int number = starting_->number;
  starting_.reset();
  const auto done = *answer ? started(number, **answer) : Result<void>(answer->error());
  if (!done) {
    --running_;
    events.push_back({number, NotStarted{done.error().message}});
  }
  while (!starting_ && !to_start_.empty()) {
    const int next = to_start_.front();
    if (const auto begun = start_next(); !begun)
      events.push_back({next, NotStarted{begun.error().message}});
  }
}

Result<void> ProcessPool::started(int number, RunningProcess process) {
  Worker& worker = workers_[number];
  auto watched = watch(process.pidfd, token(Source::end, number));
  if (watched) watched = watch(worker.reports.get(), token(Source::report, number));
  if (watched) watched = watch(worker.output.get(), token(Source::output, number));
  if (!watched) {
    unwatch(worker.reports);
    unwatch(worker.output);
    epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, process.pidfd, nullptr);
    kill_and_collect(process);
    return watched;
  }
  worker.process = process;
  worker.running = true;
  if (ending_) runner_.kill(worker.process);
  return {};
}

/// Whether that was all: it has ended.
bool ProcessPool::take_reports(int number, std::vector<WorkerEvent>& events) {
  const Worker& worker = workers_[number];
  char packet[kReportBytesMax];
  for (;;) {
    const ssize_t bytes = retry([&] { return read(worker.reports.get(), packet, sizeof packet); });
    if (bytes <= 0) return bytes == 0;
    auto report = parse_report({packet, static_cast<std::size_t>(bytes)});
    if (!report) continue;  // a stage that wrote into a descriptor that is not its own
    std::visit([&](auto& what) { events.push_back({number, std::move(what)}); }, *report);
  }
}

void ProcessPool::print(int number, std::vector<std::string> lines,
                        std::vector<WorkerEvent>& events) {
  for (std::string& line : lines) events.push_back({number, Printed{std::move(line)}});
}

/// Whether that was all: it has ended, or closed its output.
bool ProcessPool::take_output(int number, std::vector<WorkerEvent>& events) {
  Worker& worker = workers_[number];
  char bytes[1 << 12];
  for (int i = 0; i < kOutputReadsMax; ++i) {
    const ssize_t count = retry([&] { return read(worker.output.get(), bytes, sizeof bytes); });
    if (count <= 0) return count == 0;
    for (std::string& line : worker.lines.add({bytes, static_cast<std::size_t>(count)})) {
      print(number, backtraces_.add(number, std::move(line)), events);
    }
  }
  return false;
}

void ProcessPool::take_end(int number, std::vector<WorkerEvent>& events) {
  Worker& worker = workers_[number];
  if (!worker.running) return;
  const Ending ending = runner_.end(worker.process);
  // What it sent before it ended comes first. A process it left behind may still hold the pipe, so
  // this takes what is there and waits for nothing.
  take_reports(number, events);
  take_output(number, events);
  if (std::string rest = worker.lines.rest(); !rest.empty())
    print(number, backtraces_.add(number, std::move(rest)), events);
  print(number, backtraces_.end(number), events);
  worker.running = false;
  worker.to_collect = true;
  --running_;
  events.push_back({number, Ended{ending}});
}

void ProcessPool::collect() {
  for (Worker& worker : workers_) {
    if (!std::exchange(worker.to_collect, false)) continue;
    unwatch(worker.reports);
    unwatch(worker.output);
    epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, worker.process.pidfd, nullptr);
    runner_.reap(worker.process);
  }
}

void ProcessPool::end_all() {
  ending_ = true;
  running_ -= static_cast<int>(to_start_.size());
  to_start_.clear();
  for (const Worker& worker : workers_) {
    if (worker.running) runner_.kill(worker.process);
  }
}

void ProcessPool::signal(int replica, int signal) {
  const Worker& worker = workers_[replica];
  if (worker.running) runner_.signal(worker.process, signal);
}

ProcessCondition ProcessPool::condition(int replica) {
  const Worker& worker = workers_[replica];
  return worker.running ? condition_of(worker.process.pid) : ProcessCondition::gone;
}

pid_t ProcessPool::pid(int replica) const { return workers_[replica].process.pid; }

}  // namespace brigade
