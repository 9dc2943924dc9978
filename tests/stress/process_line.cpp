#include "tests/stress/process_line.h"

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "base/text.h"
#include "tests/stress/process_memory.h"

namespace brigade::stress {

using namespace std::chrono_literals;

const LineSpec& line_named(const std::string& name) {
  static const std::vector<LineSpec> lines = {
      {"three_to_two", {{3, 2, 24, {}}, {2, 4, 0, {0}}}},
      {"one_two_one", {{1, 2, 16, {}, true}, {2, 2, 16, {0}}, {1, 4, 0, {1}, true}}},
      {"broadcast", {{2, 1, 8, {}}, {2, 2, 0, {0}}, {1, 1, 0, {0}, true}}},
      {"zip", {{1, 1, 8, {}, true}, {2, 2, 8, {}}, {2, 1, 0, {0, 1}}}},
      {"rows_to_batches", {{2, 1, 16, {}}, {1, 8, 0, {0}, true}}},
      {"batches_to_rows", {{2, 4, 16, {}}, {3, 1, 0, {0}}}},
      {"one_with_task_words", {{1, 1, 8, {}}, {1, 1, 0, {0}, true}}}};
  for (const LineSpec& line : lines) {
    if (line.name == name) return line;
  }
  BRIGADE_CHECK(false, name);
  return lines[0];
}

ProcessLine::ProcessLine(const LineSpec& spec, const KillPlan& plan, std::uint64_t seed)
    : spec_(spec), plan_(plan), shape_(support::line_shape(spec.stages)), random_(seed) {
  files_.push_back(MemoryFile::create("stress-control", control_bytes<P>(shape_)).value());
  files_.push_back(MemoryFile::create("stress-ledger", kSamplesMax * shape_.stages.size()).value());
  for (const StageShape& stage : shape_.stages) {
    files_.push_back(stage.rows > 0 ? MemoryFile::create("stress-pool", pool_bytes(stage)).value()
                                    : MemoryFile());
  }
  const auto map = [](const MemoryFile& file) {
    return map_memory(file.fd(), file.bytes(), MapMode::read_write).value();
  };
  control_memory_ = map(files_[0]);
  ledger_memory_ = map(files_[1]);
  control_ = create_control<P>(control_memory_.data(), shape_, choose_wake_order<P>());
  set_end(control_, 0, 1, plan.samples != 0 ? plan.samples : kSamplesMax, 1);
  for (int s = 0; s < static_cast<int>(shape_.stages.size()); ++s) {
    for (int r = 0; r < shape_.stages[static_cast<std::size_t>(s)].replicas; ++r) {
      children_.push_back({s, r});
    }
  }
  next_disturbance_ = last_progress_ = Clock::now();
}

ProcessLine::~ProcessLine() {
  for (const Child& child : children_) {
    if (child.pid < 0) continue;
    kill(child.pid, SIGKILL);
    waitpid(child.pid, nullptr, 0);
  }
}

void ProcessLine::spawn(Child& child, const std::string& fault) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, files_[0].fd(), kControlFd);
  posix_spawn_file_actions_adddup2(&actions, files_[1].fd(), kLedgerFd);
  for (std::size_t s = 0; s < shape_.stages.size(); ++s) {
    if (files_[s + 2].fd() < 0) continue;
    posix_spawn_file_actions_adddup2(&actions, files_[s + 2].fd(),
                                     kFirstPoolFd + static_cast<int>(s));
  }
  std::string variable = "BRIGADE_FAULT=" + fault;
  std::vector<std::string> arguments = {"worker", kWorkerArgument, spec_.name,
                                        std::to_string(child.stage), std::to_string(child.replica)};
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  char* environment[] = {variable.data(), nullptr};
  const int global =
      shape_.stages[static_cast<std::size_t>(child.stage)].first_replica + child.replica;
  control_.replicas[global].state.value.store(0);
  const int error =
      posix_spawn(&child.pid, "/proc/self/exe", &actions, nullptr, argv.data(), environment);
  posix_spawn_file_actions_destroy(&actions);
  BRIGADE_CHECK(error == 0, error);
}

/// Whoever died is repaired at once, and only then started again (unless the plan is a mistake).
void ProcessLine::reap() {
  for (Child& child : children_) {
    int status = 0;
    if (child.pid < 0 || waitpid(child.pid, &status, WNOHANG | WUNTRACED) != child.pid) continue;
    if (WIFSTOPPED(status)) {
      child.stopped = true;  // until the next disturbance
      ++stops_;
      if (plan_.still_is_dead) repair(control_, child.stage, child.replica, {}, plan_.rules);
      continue;
    }
    child.pid = -1;
    child.stopped = false;
    if (WIFEXITED(status) && WEXITSTATUS(status) == kEndedWell) continue;
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL) {
      problem_ = concat("stage ", child.stage, " replica ", child.replica,
                        WIFEXITED(status) ? " left with exit code " : " died by signal ",
                        WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
      return;
    }
    ++kills_;
    recover(child);
  }
}

void ProcessLine::recover(Child& child) {
  if (plan_.restart == Restart::before_repair) {
    spawn(child, "claim.after_cas:1:stop");
    siginfo_t seen{};  // it has stopped with a task in hand, or has left since there was none
    waitid(P_PID, static_cast<id_t>(child.pid), &seen, WSTOPPED | WEXITED | WNOWAIT);
    child.stopped = true;  // until the next disturbance
  }
  repair(control_, child.stage, child.replica, {}, plan_.rules);
  if (plan_.restart == Restart::after_repair) spawn(child, "");
}

/// Kills somebody, or lets somebody stand still for a moment.
void ProcessLine::disturb() {
  if (Clock::now() < next_disturbance_) return;
  next_disturbance_ = Clock::now() + std::chrono::microseconds(random_() % 20'000);
  for (Child& child : children_) {
    if (child.stopped) kill(child.pid, SIGCONT);
    child.stopped = false;
  }
  const std::size_t which = random_() % children_.size();
  Child& victim = children_[which];
  const bool running = control_.replicas[which].state.value.load() == kRunning;
  if (victim.pid < 0 || (!running && random_() % 8 != 0)) return;
  if (random_() % 4 == 0) {
    kill(victim.pid, SIGSTOP);
    victim.stopped = true;
  } else if (kills_ < plan_.kills) {
    kill(victim.pid, SIGKILL);
  }
}

void ProcessLine::advance_the_stop() {
  if (end_lowered_ || plan_.samples != 0 || kills_ < plan_.kills) return;
  if (!stop_asked_) ask_stop(control_);
  stop_asked_ = true;
  const auto gone = [this](int replica) {
    return children_[static_cast<std::size_t>(replica)].pid < 0;
  };
  if (!all_acknowledged(control_, gone)) return;
  lower_end(control_, 0, support::line_multiple(shape_));
  end_lowered_ = true;
}

bool ProcessLine::all_ended() const {
  for (const Child& child : children_) {
    if (child.pid >= 0) return false;
  }
  return true;
}

/// Some mark has moved, or somebody has left, within the time allowed.
bool ProcessLine::progressed() {
  std::uint64_t sum = static_cast<std::uint64_t>(kills_);
  for (const Child& child : children_) sum += child.pid < 0 ? 1 : 0;
  for (std::size_t s = 0; s < shape_.stages.size(); ++s) {
    sum += lane_low(control_, static_cast<int>(s), 0);
  }
  if (sum != last_sum_) last_progress_ = Clock::now();
  last_sum_ = sum;
  return Clock::now() - last_progress_ < plan_.hang_after;
}

Outcome ProcessLine::run() {
  for (Child& child : children_) {
    const bool faulty = child.stage == plan_.fault_stage && child.replica == 0;
    spawn(child, faulty ? plan_.fault : "");
  }
  while (problem_.empty() && !all_ended()) {
    reap();
    disturb();
    advance_the_stop();
    if (problem_.empty() && !progressed()) problem_ = "hangs";
    std::this_thread::sleep_for(200us);
  }
  Outcome outcome{problem_, kills_, control_.domains[0]->end.value.load(), stops_};
  if (problem_.empty()) check(outcome);
  return outcome;
}

void ProcessLine::check(Outcome& outcome) {
  std::uint64_t full = 0;
  for (std::uint64_t sample = 0; sample < outcome.end; ++sample) full += !is_hole(sample);
  const auto say = [&](const auto&... what) {
    if (outcome.problem.empty()) outcome.problem = concat(what...);
  };
  for (int s = 0; s < static_cast<int>(shape_.stages.size()); ++s) {
    const LaneShape& lane = shape_.stages[static_cast<std::size_t>(s)].lanes[0];
    if (lane_low(control_, s, 0) != outcome.end) say("stage ", s, " ended early");
    for (const auto& bits :
         control_.stages[static_cast<std::size_t>(s)].lanes[0].mark->waiters.bits)
      if (bits.load() != 0) say("waiter bits were left on the mark of stage ", s);
    int missing = 0;
    for (std::uint64_t task = 0; task < outcome.end / lane.task; ++task) {
      const int finished = ledger(ledger_memory_, shape_, s)[task].load();
      if (finished > 1) say("task ", task, " of stage ", s, " was finished twice");
      missing += finished == 0;
    }
    if (missing > kills_) say(missing, " tasks of stage ", s, " were lost");
    for (int input : lane.inputs) {
      const EdgeAudit books = audit_edge(control_, input, s, 0);
      if (books.produced != full || books.delivered != full || books.leaked != 0) {
        say("stage ", input, " to ", s, ": full ", full, ", produced ", books.produced,
            ", delivered ", books.delivered, ", leaked ", books.leaked);
      }
    }
  }
}

}  // namespace brigade::stress
