#include "pipeline/run/run_attempt.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <new>
#include <set>

#include <brigade/text.h>
#include "pipeline/plan/planner/memory_budget.h"
#include "pipeline/run/launch/device_memory.h"
#include "pipeline/run/launch/process_pool.h"
#include "pipeline/run/launch/program_pool.h"
#include "stages/detail/exec_stage.h"

namespace brigade {
namespace {

// The soft limit is for programs that use select(); the hard one is what the machine allows.
void raise_descriptor_limit(const Plan& plan) {
  rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  const rlim_t wanted = limit.rlim_cur + descriptors_needed(plan);
  limit.rlim_cur = std::min<rlim_t>(wanted, limit.rlim_max);
  setrlimit(RLIMIT_NOFILE, &limit);
}

/// A program's limits are its own.
Result<void> check_descriptor_limit(const Plan& plan) {
  rlimit limit;
  const rlim_t needed = descriptors_needed(plan);
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= needed) return {};
  return Error{concat("the graph needs ", needed, " descriptors, but this program is limited to ",
                      limit.rlim_cur, "; raise its limit (`ulimit -n`, setrlimit)")};
}

std::vector<std::string> own_environment() {
  std::vector<std::string> environment;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    environment.emplace_back(*entry);
  }
  return environment;
}

/// A thread cannot execute one.
Result<void> check_no_program(const Plan& plan) {
  for (const PlanStage& stage : plan.stages)
    if (stage.is_exec())
      return Error{concat("stage ", quote(stage.name), " is ",
                          stage.type == kPythonType ? "in Python" : "a program (`exec:`)",
                          ", which needs its own process and cannot run in a thread")};
  return {};
}

}  // namespace

Result<void> RunAttempt::create_memory(const StageTypes& types,
                                       const std::shared_ptr<SharedTensors>& shared,
                                       const RunOptions& options) {
  if (options.program) {
    BRIGADE_TRY(check_descriptor_limit(plan));
  } else {
    raise_descriptor_limit(plan);
  }
  BRIGADE_ASSIGN(cache_files, create_cache_files(plan, types));
  BRIGADE_ASSIGN(memory->segments, SharedSegments::create(plan, resume, cache_fds(cache_files)));
  segments().share(shared);
  return {};
}

Result<void> RunAttempt::make_worker_pool(const StageTypes& types, const RunOptions& options,
                                          const StopRequests& stops,
                                          const Interrupted& interrupted) {
  if (options.in_process) {
    BRIGADE_TRY(check_no_program(plan));
    BRIGADE_ASSIGN(auto made, ThreadPool::create(memory, plan, resume, segments(), types));
    threads = made.get();
    worker_pool = std::move(made);
    return {};
  }
  BRIGADE_ASSIGN(spawner, Spawner::create(options.workers));
  auto fds = ask_for_device_memory(plan, segments().plan_fd(), *spawner, own_environment(),
                                   [&] { return stops.asked() || (interrupted && interrupted()); });
  // After a stop the supervisor starts nobody who would miss that memory.
  if (!fds && !(fds.error().refusal == Refusal::interrupted && stops.asked())) return fds.error();
  if (fds) segments().keep_device_memory(std::move(*fds));
  ProcessRunner* runner = spawner.get();
  if (options.forker >= 0) {
    BRIGADE_ASSIGN(forked, ForkedRunner::create(options.forker, *spawner));
    runner = forked.get();
  }
  BRIGADE_ASSIGN(worker_pool,
                 ProcessPool::create(plan, segments(), types, *runner, own_environment()));
  return {};
}

Result<void> RunAttempt::open_program(const Interrupted& interrupted) {
  BRIGADE_ASSIGN(program, ProgramEnds::create(interrupted));
  std::set<int> replicas = program_replicas(plan);
  if (replicas.empty()) return {};
  BRIGADE_ASSIGN(memory->views, ProgramViews::create(plan, segments()));
  for (const StageNumber s : plan.stages.numbers())
    if (plan.stages[s].is_output())
      outputs.push_back(std::make_shared<OutputQueue>(memory, s, program));
  const std::vector<std::shared_ptr<const OutputQueue>> read(outputs.begin(), outputs.end());
  for (const StageNumber s : plan.stages.numbers())
    if (plan.stages[s].is_input())
      inputs.push_back(std::make_shared<InputQueue>(memory, s, program, read));
  const auto tend = [fed = inputs] {
    for (const auto& input : fed) input->tend();
  };
  BRIGADE_ASSIGN(worker_pool, ProgramPool::create(std::move(worker_pool), std::move(replicas),
                                                  program, segments().control(), tend));
  return {};
}

RunOutcome RunAttempt::supervise(RunOutput& lines) {
  RunOutcome failed;
  failed.end = RunEnd::failed;
  try {
    RunOutcome ended = supervisor->run();
    finish_cache_files(lines);
    if (ended.end != RunEnd::resumes) disk->finish();
    disk.reset();
    return ended;
  } catch (const std::bad_alloc&) {
    failed.failure = "out of memory; raise the limit on address space (`ulimit -v`)";
  } catch (const std::exception& exception) {
    failed.failure = concat("the supervisor failed: ", exception.what());
  }
  worker_pool->end_all();
  lines.error(failed.failure);
  return failed;
}

void RunAttempt::finish_cache_files(RunOutput& lines) {
  for (const CacheFilePublisher::Line& line : cache_publisher->finish())
    lines.tell(
        {.level = line.warning ? EventLevel::warning : EventLevel::info, .message = line.text});
  cache_files.clear();  // what has not been published goes
}

}  // namespace brigade
