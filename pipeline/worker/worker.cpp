#include "pipeline/worker/worker.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <utility>

#include <brigade/text.h>
#include "base/fd_packet.h"
#include "base/log.h"
#include "pipeline/memory/private_memory.h"
#include "pipeline/memory/shared_segments.h"
#include "pipeline/worker/crash_handler.h"
#include "pipeline/worker/module_loader.h"
#include "pipeline/worker/plugin_loader.h"
#include "pipeline/worker/replica/replica.h"
#include "pipeline/worker/replica_main.h"
#include "pipeline/worker/source_types.h"
#include "pipeline/worker/throttled_reporter.h"
#include "stages/detail/exec_stage.h"
#include "stages/detail/fused_stage.h"
#include "transports/fault_points.h"

namespace brigade {
namespace {

// LibTorch's and OpenCV's own exit takes tens of milliseconds and may crash; everything that
// matters has been closed by now.
[[noreturn]] void leave(int code) {
  std::cout.flush();
  std::fflush(nullptr);
  _exit(code);
}

void log_in_worker(LogLevel level, std::string_view message) {
  const char* kind = level == LogLevel::warning ? "warning: "
                     : level == LogLevel::error ? "error: "
                                                : "";
  const std::string line = concat(kind, message, '\n');
  std::fwrite(line.data(), 1, line.size(), stderr);
}

ReplicaSetup make_setup(const WorkerRole& role, AttachedSegments& segments, const StageType& type,
                        SourceTypes& sources, RunReporter& reporter) {
  ReplicaSetup setup;
  setup.plan = &segments.plan();
  setup.resume = &segments.resume();
  setup.stage = role.stage;
  setup.replica = role.replica;
  setup.control = &segments.control();
  setup.rings = segments.slot_rings();
  setup.type = &type;
  setup.make_stage = body_maker(type, segments.plan().stages[role.stage]);
  setup.make_producer = producer_maker(type);
  sources.name_samples(setup);
  setup.reporter = &reporter;
  setup.spins = role.spins;
  return setup;
}

// The program's types, and those of the plugins that the stage's type is in.
Result<StageTypes> known_types(const WorkerRole& role, const StageTypes& program,
                               const std::string& type) {
  StageTypes types = program;
  for (const std::string& library : role.libraries) {
    BRIGADE_TRY(check_library(library, type));
    auto opened = open_plugin(library);
    if (!opened) return Error{concat("the plugin ", library, " ", opened.error().message)};
    types.append(*opened);
  }
  return types;
}

// What the supervisor has planned with must be what is here.
Result<void> check_type(const WorkerRole& role, const StageType* type, const std::string& name) {
  if (type == nullptr && name == kExecType)
    return Error{
        "`exec:` started `brigade` or a program with an App: expected a program that attaches "
        "itself (brigade/worker.h)"};
  if (type == nullptr) {
    return Error{
        concat("this program has no stage type \"", name, "\"; add it before the App is made")};
  }
  if (role.contract == 0) return {};
  return compare_contracts(type->contract, role.contract,
                           role.libraries.empty() ? "this program" : join(role.libraries, ", "));
}

Result<void> work(const WorkerRole& role, AttachedSegments& segments, const StageTypes& program,
                  ReportSink& sink) {
  const PlanStage& stage = segments.plan().stages[role.stage];
  BRIGADE_ASSIGN(const StageTypes types, known_types(role, program, stage.type));
  StageType fused;
  const StageType* const type = find_type_or_fused(types, stage.type, fused);
  BRIGADE_TRY(check_type(role, type, stage.type));
  if (const char* fault = std::getenv(kFaultVariable)) {
    BRIGADE_TRY(arm_worker_fault(fault, stage.name, role.replica));
  }
  const SystemClock clock;
  ThrottledReporter reporter(role.number, sink, clock);
  SourceTypes sources([&program] { return program; }, role.source_libraries);
  ReplicaSetup setup = make_setup(role, segments, *type, sources, reporter);
  BRIGADE_ASSIGN(setup.shared, map_shared(role, segments.plan()));
  BRIGADE_ASSIGN(const auto device, DeviceRings::map(segments.plan(), stage, role.device));
  if (device) device->place(setup.rings);
  setup.device = device.get();
  Replica replica(std::move(setup));
  BRIGADE_TRY(replica.open());
  if (stage.private_bytes_max > 0) limit_private_memory(stage.private_bytes_max);
  BRIGADE_TRY(run_replica(replica, role.number, sink, reporter));
  leave(0);  // without the destructors of user code and libraries
}

// Places in shared memory follow from these numbers.
Result<void> check_role(const WorkerRole& role, const Plan& plan) {
  if (!plan.stages.has(role.stage))
    return Error{concat("its role names stage ", role.stage.value(), " of ", plan.stages.size())};
  const PlanStage& stage = plan.stages[role.stage];
  if (role.replica < 0 || role.replica >= stage.replicas)
    return Error{concat("its role names replica ", role.replica, " of ", stage.replicas)};
  if (role.number != stage.first_replica + role.replica) {
    return Error{concat("its role names number ", role.number, ", expected ",
                        stage.first_replica + role.replica)};
  }
  return {};
}

Result<void> attach_and_work(const WorkerRole& role, const StageTypes& types, ReportSink& sink) {
  BRIGADE_ASSIGN(auto segments, attach_role(role));
  auto worked = work(role, *segments, types, sink);
  // What the stage and its libraries left running must not find its memory gone.
  static_cast<void>(segments.release());
  return worked;
}

// Written by the thread that forks; the child has the copy.
struct Forking {
  pid_t process = 0;
  bool main_thread = false;
};
thread_local Forking forking;

void before_fork() { forking = {getpid(), gettid() == getpid()}; }

void in_child() {
  if (!forking.main_thread) return;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const pid_t parent = getppid();  // 0: the child is the first of a namespace
  if (parent != forking.process && parent != 0) kill(getpid(), SIGKILL);  // it ended before that
}

}  // namespace

Result<std::unique_ptr<AttachedSegments>> attach_role(const WorkerRole& role) {
  BRIGADE_ASSIGN(auto segments, AttachedSegments::attach(OwnedFd(role.control_fd),
                                                         OwnedFd(role.plan_fd), role.rings));
  BRIGADE_TRY(check_role(role, segments->plan()));
  return segments;
}

Result<ReplicaShared> map_shared(const WorkerRole& role, const Plan& plan) {
  auto mapped = map_shared_tensors(plan, plan.stages[role.stage], role.replica, role.shared);
  for (const SharedGrant& grant : role.shared) close(grant.fd);
  return mapped;
}

Result<void> send_device_memory(const WorkerRole& role) {
  const auto made = [&]() -> Result<OwnedFd> {
    BRIGADE_ASSIGN(const auto segments, AttachedSegments::read(OwnedFd(role.plan_fd)));
    BRIGADE_TRY(check_role(role, segments->plan()));
    return make_device_memory(segments->plan().stages[role.stage]);
  }();
  if (!made) return send_fd(role.memory_fd, made.error().message);
  return send_fd(role.memory_fd, "", made->get());
}

void end_forked_children_with_this_process() { pthread_atfork(&before_fork, nullptr, &in_child); }

void begin_worker(const WorkerRole& role) {
  prctl(PR_SET_NAME, role.name.c_str());  // 15 characters of it
  std::signal(SIGXFSZ, SIG_IGN);          // too large a file is an error of who writes it
  // Its group is in the background: to read from the terminal is an error, and does not stop it.
  for (const int signal : {SIGTTIN, SIGTTOU}) std::signal(signal, SIG_IGN);
  end_forked_children_with_this_process();
  std::setvbuf(stdout, nullptr, _IOLBF, 0);    // its lines arrive as they are written
  fcntl(role.report_fd, F_SETFD, FD_CLOEXEC);  // not for programs that the stage starts
}

Result<void> arm_worker_fault(std::string_view text, std::string_view stage, int replica) {
  const std::string mine = concat(stage, ".", replica, "=");
  for (std::string_view one : split(text, ',')) {
    const auto fault = strip_prefix(trim(one), mine);
    if (fault && !arm_fault(*fault)) {
      return Error{
          concat("BRIGADE_FAULT: expected STAGE.REPLICA=POINT:N:kill (or stop, delay, nap), found ",
                 quote(one))};
    }
  }
  return {};
}

void run_worker(const WorkerRole& role, const StageTypes& types) {
  if (getppid() != role.supervisor) _exit(0);  // it ended before it could tell us
  if (role.memory_fd >= 0) {
    const Result<void> sent = send_device_memory(role);
    leave(sent ? 0 : 1);
  }
  begin_worker(role);
  install_crash_handler();
  set_log_sink(&log_in_worker);
  PipeSink sink(role.report_fd);
  replica_main(role.number, sink, [&] { return attach_and_work(role, types, sink); });
  leave(1);
}

}  // namespace brigade
