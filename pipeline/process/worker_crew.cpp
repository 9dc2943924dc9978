#include "pipeline/process/worker_crew.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>
#include <utility>

#include "base/text.h"
#include "pipeline/process/backtrace_text.h"
#include "pipeline/process/plugin_loader.h"
#include "pipeline/process/worker_environment.h"
#include "pipeline/run/sample_errors.h"
#include "stages/api/chain.h"

namespace brigade {
namespace {

constexpr int kSpins = 200;
constexpr int kOutputReadsMax = 16;  // of one replica before the others have their turn
constexpr int kEventsMax = 64;

enum class Source : std::uint64_t { report, output, end, started };

std::uint64_t token(Source source, int number) {
  return static_cast<std::uint64_t>(source) << 32 | static_cast<std::uint32_t>(number);
}

Error system_error(const std::string& what) {
  const bool descriptors = errno == EMFILE || errno == ENFILE;
  return Error{concat(what, ": ", std::strerror(errno),
                      descriptors ? "; raise the limit with `ulimit -n`" : "")};
}

void wait_for(int fd) {
  pollfd ready{fd, POLLIN, 0};
  while (poll(&ready, 1, -1) < 0 && errno == EINTR) {
  }
}

/// A pipe from a worker, with its own end of it.
Result<void> open_pipe(int flags, OwnedFd& ours, OwnedFd& workers) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC | flags) != 0) return system_error("cannot open a pipe for its output");
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
  std::vector<const StageType*> links = type.links;
  if (links.empty()) links = {&type};
  for (const StageType* link : links) {
    if (is_of_plugin(*link) &&
        std::find(libraries.begin(), libraries.end(), link->module) == libraries.end())
      libraries.push_back(link->module);
  }
}

}  // namespace

void add_stage_type(WorkerRole& role, const StageTypes& types, const std::string& type) {
  StageType chain;
  const StageType* const found = find_type_or_chain(types, type, chain);
  if (found == nullptr) return;
  role.contract = found->contract.hash();
  add_libraries(role.libraries, *found);
}

void add_source_type(WorkerRole& role, const StageTypes& types, const std::string& type) {
  const StageType* const found = types.find(type);
  if (found != nullptr) add_libraries(role.source_libraries, *found);
}

WorkerCrew::WorkerCrew(const Plan& plan, const Segments& segments, const StageTypes& types,
                       ProcessRunner& runner, std::vector<std::string> environment)
    : plan_(plan),
      segments_(segments),
      types_(types),
      runner_(runner),
      environment_(std::move(environment)) {
  for (int s = 0; s < static_cast<int>(plan.stages.size()); ++s) {
    for (int r = 0; r < plan.stages[static_cast<std::size_t>(s)].replicas; ++r) {
      Worker& worker = workers_.emplace_back();
      worker.stage = s;
      worker.replica = r;
    }
  }
}

Result<std::unique_ptr<WorkerCrew>> WorkerCrew::create(const Plan& plan, const Segments& segments,
                                                       const StageTypes& types,
                                                       ProcessRunner& runner,
                                                       std::vector<std::string> environment) {
  std::unique_ptr<WorkerCrew> crew(
      new WorkerCrew(plan, segments, types, runner, std::move(environment)));
  crew->epoll_.reset(epoll_create1(EPOLL_CLOEXEC));
  if (crew->epoll_.get() < 0) return system_error("cannot watch processes (epoll)");
  BRIGADE_TRY(crew->watch(runner.started_fd(), token(Source::started, 0)));
  return crew;
}

WorkerCrew::~WorkerCrew() {
  end_all();
  if (starting_) {
    wait_for(runner_.started_fd());
    std::vector<CrewEvent> events;
    take_started(events);
  }
  for (Worker& worker : workers_)
    if (worker.running) collect(worker.process);
}

void WorkerCrew::collect(RunningProcess& process) {
  runner_.kill(process);
  wait_for(process.pidfd);
  runner_.reap(process);
}

Result<void> WorkerCrew::watch(int fd, std::uint64_t what) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = what;
  if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) == 0) return {};
  return system_error("cannot watch a descriptor (epoll)");
}

// Closing is not enough: a process that is being started holds copies of all descriptors until its
// exec is through, and events of the dead would be taken for its successor's.
void WorkerCrew::unwatch(OwnedFd& fd) {
  if (fd.get() >= 0) epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd.get(), nullptr);
  fd.reset();
}

Result<void> WorkerCrew::start() {
  for (int number = 0; number < static_cast<int>(workers_.size()); ++number)
    to_start_.push_back(number);
  running_ = static_cast<int>(workers_.size());
  return start_next();
}

Result<void> WorkerCrew::restart(int replica) {
  Worker& worker = workers_[static_cast<std::size_t>(replica)];
  worker.restarted = true;
  worker.lines = {};
  to_start_.push_back(replica);
  ++running_;
  return start_next();
}

Error WorkerCrew::named(int number, const Error& error) const {
  const Worker& worker = workers_[static_cast<std::size_t>(number)];
  const PlanStage& stage = plan_.stages[static_cast<std::size_t>(worker.stage)];
  return error.within(concat("stage \"", stage.name, "\" replica ", worker.replica));
}

WorkerRole WorkerCrew::make_role(int number, int report_fd) const {
  const Worker& worker = workers_[static_cast<std::size_t>(number)];
  const PlanStage& stage = plan_.stages[static_cast<std::size_t>(worker.stage)];
  WorkerRole role;
  role.name = concat(stage.name, ".", worker.replica);
  role.stage = worker.stage;
  role.replica = worker.replica;
  role.number = number;
  role.supervisor = getpid();
  role.control_fd = segments_.control_fd();
  role.plan_fd = segments_.plan_fd();
  role.report_fd = report_fd;
  add_stage_type(role, types_, stage.type);
  for (int lane = 0; lane < static_cast<int>(stage.lanes.size()); ++lane)
    add_source_type(role, types_, id_source(plan_, stage, lane).type);
  role.spins = spins_for(plan_, shared_cores(plan_));
  if (stage.has_pool) {
    const int fd = segments_.pool_fd(worker.stage, MapMode::read_write);
    role.pools.push_back({worker.stage, fd, true, segments_.kept_fd(worker.stage)});
  }
  for (const PlanLane& lane : stage.lanes) {
    for (const PlanInput& input : lane.inputs) {
      const PoolGrant grant{input.stage, segments_.pool_fd(input.stage, MapMode::read_only), false,
                            -1};
      if (std::find(role.pools.begin(), role.pools.end(), grant) == role.pools.end()) {
        role.pools.push_back(grant);
      }
    }
  }
  return role;
}

/// The next in turn, unless one is under way. Error: of that replica, which is not started.
Result<void> WorkerCrew::start_next() {
  if (starting_ || to_start_.empty()) return {};
  const int number = to_start_.front();
  to_start_.pop_front();
  const auto begun = begin_start(number);
  if (begun) return {};
  --running_;
  return named(number, begun.error());
}

Result<void> WorkerCrew::begin_start(int number) {
  Worker& worker = workers_[static_cast<std::size_t>(number)];
  const PlanStage& stage = plan_.stages[static_cast<std::size_t>(worker.stage)];
  worker.process = {0, -1};  // not that of its predecessor
  Starting starting{number, {}, {}};
  BRIGADE_TRY(open_pipe(0, worker.output, starting.output));
  BRIGADE_TRY(open_pipe(O_DIRECT, worker.reports, starting.reports));

  const WorkerRole role = make_role(number, starting.reports.get());
  SpawnRequest request;
  request.title = concat("brigade: ", role.name);
  request.environment = worker_environment(environment_, stage, print_role(role), worker.restarted);
  request.keep = {role.control_fd, role.plan_fd, role.report_fd};
  for (const PoolGrant& grant : role.pools) {
    request.keep.push_back(grant.fd);
    if (grant.kept_fd >= 0) request.keep.push_back(grant.kept_fd);
  }
  request.output = starting.output.get();
  request.cpus = stage.cpus;
  starting_ = std::move(starting);
  runner_.start(std::move(request));
  return {};
}

std::vector<CrewEvent> WorkerCrew::take_events() {
  epoll_event ready[kEventsMax];
  const int count = epoll_wait(epoll_.get(), ready, kEventsMax, 0);
  std::vector<CrewEvent> events;
  for (int i = 0; i < count; ++i) {
    const auto source = static_cast<Source>(ready[i].data.u64 >> 32);
    const int number = static_cast<int>(ready[i].data.u64 & 0xffffffff);
    if (source == Source::report) take_reports(number, events);
    if (source == Source::output) take_output(number, events);
    if (source == Source::end) take_end(number, events);
    if (source == Source::started) take_started(events);
  }
  return events;
}

void WorkerCrew::take_started(std::vector<CrewEvent>& events) {
  auto answer = runner_.take_started();
  if (!answer || !starting_) return;
  const int number = starting_->number;
  starting_.reset();
  const auto done = *answer ? started(number, **answer) : Result<void>(answer->error());
  if (!done) {
    --running_;
    events.push_back({number, NotStarted{named(number, done.error()).message}});
  }
  while (!starting_ && !to_start_.empty()) {
    const int next = to_start_.front();
    if (const auto begun = start_next(); !begun)
      events.push_back({next, NotStarted{begun.error().message}});
  }
}

Result<void> WorkerCrew::started(int number, RunningProcess process) {
  Worker& worker = workers_[static_cast<std::size_t>(number)];
  auto watched = watch(process.pidfd, token(Source::end, number));
  if (watched) watched = watch(worker.reports.get(), token(Source::report, number));
  if (watched) watched = watch(worker.output.get(), token(Source::output, number));
  if (!watched) {
    unwatch(worker.reports);
    unwatch(worker.output);
    epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, process.pidfd, nullptr);
    collect(process);
    return watched;
  }
  worker.process = process;
  worker.running = true;
  if (ending_) runner_.kill(worker.process);
  return {};
}

void WorkerCrew::take_reports(int number, std::vector<CrewEvent>& events) {
  Worker& worker = workers_[static_cast<std::size_t>(number)];
  char packet[kReportBytesMax];
  while (worker.reports.get() >= 0) {
    const ssize_t bytes = read(worker.reports.get(), packet, sizeof packet);
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0) return;
    if (bytes == 0) {  // it has ended
      unwatch(worker.reports);
      return;
    }
    auto report = parse_report({packet, static_cast<std::size_t>(bytes)});
    if (!report) continue;  // a stage that wrote into a descriptor that is not its own
    std::visit([&](auto& what) { events.push_back({number, std::move(what)}); }, *report);
  }
}

void WorkerCrew::take_output(int number, std::vector<CrewEvent>& events) {
  Worker& worker = workers_[static_cast<std::size_t>(number)];
  char bytes[1 << 12];
  for (int i = 0; i < kOutputReadsMax && worker.output.get() >= 0; ++i) {
    const ssize_t count = read(worker.output.get(), bytes, sizeof bytes);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return;
    if (count == 0) {  // it has closed its output, or ended
      unwatch(worker.output);
      return;
    }
    for (std::string& line : worker.lines.add({bytes, static_cast<std::size_t>(count)})) {
      events.push_back({number, Printed{readable_backtrace(std::move(line))}});
    }
  }
}

void WorkerCrew::take_end(int number, std::vector<CrewEvent>& events) {
  Worker& worker = workers_[static_cast<std::size_t>(number)];
  if (!worker.running) return;
  // What it sent before it ended comes first. A process it left behind may still hold the pipe, so
  // this takes what is there and waits for nothing.
  take_reports(number, events);
  take_output(number, events);
  if (std::string rest = worker.lines.rest(); !rest.empty()) {
    events.push_back({number, Printed{readable_backtrace(std::move(rest))}});
  }
  unwatch(worker.reports);
  unwatch(worker.output);
  epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, worker.process.pidfd, nullptr);
  const Ending ending = runner_.reap(worker.process);
  worker.running = false;
  --running_;
  events.push_back({number, Ended{ending}});
}

void WorkerCrew::end_all() {
  ending_ = true;
  running_ -= static_cast<int>(to_start_.size());
  to_start_.clear();
  for (const Worker& worker : workers_) {
    if (worker.running) runner_.kill(worker.process);
  }
}

void WorkerCrew::signal(int replica, int signal) {
  const Worker& worker = workers_[static_cast<std::size_t>(replica)];
  if (worker.running) runner_.signal(worker.process, signal);
}

ProcessCondition WorkerCrew::condition(int replica) {
  const Worker& worker = workers_[static_cast<std::size_t>(replica)];
  return worker.running ? condition_of(worker.process.pid) : ProcessCondition::gone;
}

pid_t WorkerCrew::pid(int replica) const {
  return workers_[static_cast<std::size_t>(replica)].process.pid;
}

}  // namespace brigade
