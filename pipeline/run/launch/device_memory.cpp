#include "pipeline/run/launch/device_memory.h"

#include <unistd.h>

#include <algorithm>
#include <optional>
#include <utility>

#include <brigade/text.h>
#include "base/fd_packet.h"
#include "pipeline/plan/planner/memory_budget.h"
#include "pipeline/run/launch/wait_to_read.h"
#include "pipeline/run/launch/worker_environment.h"
#include "pipeline/worker/messages.h"
#include "pipeline/worker/module_loader.h"

namespace brigade {
namespace {

class MakerOfMemory {
 public:
  MakerOfMemory(const Plan& plan, int plan_fd, ProcessRunner& runner, std::function<bool()> stopped,
                int timeout_ms, int killed_timeout_ms)
      : plan_(plan),
        plan_fd_(plan_fd),
        runner_(runner),
        asked_(std::move(stopped)),
        timeout_ms_(timeout_ms),
        killed_timeout_ms_(killed_timeout_ms) {}

  Result<OwnedFd> make(const PlanStage& stage, const std::vector<std::string>& environment) {
    BRIGADE_ASSIGN(FdSockets sockets, open_fd_sockets());
    runner_.start(request_for(stage, sockets.other.get(), environment));
    // A start that goes on is ended by the runner, whose end follows.
    const bool starts = wait(runner_.started_fd(), timeout_ms_);
    if (stopped_) return stopped_error();
    auto started = starts ? runner_.take_started() : std::nullopt;
    if (!started)
      return Error{concat("its process was not started within ", timeout_ms_ / 1000, " s")};
    if (!*started) return started->error();
    sockets.other.reset();  // so that its end is seen
    RunningProcess process = **started;
    Result<OwnedFd> answer = answer_of(sockets.one.get());
    const pid_t pid = process.pid;
    const std::optional<Ending> ending = end(process, answer ? timeout_ms_ : 0);
    if (stopped_) return stopped_error();
    if (answer) return answer;
    Error why = answer.error();
    if (ending && why.message.empty())
      why.message = concat("the process that allocates it ", ending_text(*ending));
    if (!ending && why.message.empty())
      why.message = "the process that allocates it closed its connection";
    if (!ending)
      why.message +=
          concat(" (process ", pid, ", which allocates it, was killed but does not exit)");
    return why;
  }

 private:
  static Error stopped_error() {
    return Error{"the run was stopped before the memory was allocated", Refusal::interrupted};
  }

  /// Nothing: it has been left, killed as it is.
  std::optional<Ending> end(RunningProcess& process, int timeout_ms) {
    if (!wait(process.pidfd, timeout_ms)) {
      runner_.kill(process);
      if (!wait(process.pidfd, killed_timeout_ms_)) {
        runner_.leave(process);
        return std::nullopt;
      }
    }
    const Ending ending = runner_.end(process);
    runner_.reap(process);
    return ending;
  }

  /// As wait_to_read(), until somebody stops the run.
  bool wait(int fd, int timeout_ms) {
    for (int left_ms = timeout_ms;; left_ms -= kStopAskedEveryMs) {
      if (wait_to_read(fd, std::min(left_ms, kStopAskedEveryMs))) return true;
      stopped_ = stopped_ || (asked_ && asked_());
      if (stopped_ || left_ms <= kStopAskedEveryMs) return false;
    }
  }

  SpawnRequest request_for(const PlanStage& stage, int socket,
                           const std::vector<std::string>& environment) const {
    WorkerRole role;
    role.name = concat(stage.name, ".memory");
    role.stage = plan_.stages.number_of(stage);
    role.number = stage.first_replica;
    role.supervisor = getpid();
    role.plan_fd = plan_fd_;
    role.memory_fd = socket;
    SpawnRequest request;
    request.title = concat("brigade: ", role.name);
    request.environment =
        worker_environment(environment, stage, print_role(role), false, core_library());
    request.keep = {plan_fd_, socket};
    request.output = STDERR_FILENO;
    request.cpus = stage.cpus;
    return request;
  }

  /// An error without a message: it ended without a word.
  Result<OwnedFd> answer_of(int socket) {
    const bool answers = wait(socket, timeout_ms_);
    if (stopped_) return Error{""};  // make() says it
    if (!answers)
      return Error{concat("it was not allocated within ", timeout_ms_ / 1000,
                          " s; check that `nvidia-smi` answers")};
    BRIGADE_ASSIGN(auto packet, receive_fd(socket));
    if (!packet) return Error{""};
    if (packet->fd.get() < 0) return Error{packet->text};
    return std::move(packet->fd);
  }

  const Plan& plan_;
  const int plan_fd_;
  ProcessRunner& runner_;
  const std::function<bool()> asked_;
  const int timeout_ms_;
  const int killed_timeout_ms_;
  bool stopped_ = false;  // the answer was yes
};

}  // namespace

Result<ByStage<OwnedFd>> ask_for_device_memory(const Plan& plan, int plan_fd, ProcessRunner& runner,
                                               const std::vector<std::string>& environment,
                                               std::function<bool()> stopped, int timeout_ms,
                                               int killed_timeout_ms) {
  MakerOfMemory maker(plan, plan_fd, runner, std::move(stopped), timeout_ms, killed_timeout_ms);
  ByStage<OwnedFd> fds(plan.stages.size());
  for (const StageNumber s : plan.stages.numbers()) {
    const PlanStage& stage = plan.stages[s];
    if (!stage.writes_on_device()) continue;
    auto made = maker.make(stage, environment);
    if (!made) return made.error().within(concat("the device memory of ", edge_text(plan, stage)));
    fds[s] = std::move(*made);
  }
  return fds;
}

}  // namespace brigade
