#include "pipeline/process/spawn.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <cstring>
#include <fstream>
#include <mutex>
#include <thread>

#include "base/text.h"

#ifndef P_PIDFD
#define P_PIDFD 3
#endif

namespace brigade {
namespace {

// What a call failed with, in the child that borrows our memory.
enum class Step { none, death_signal, standard_streams, keep, cpus, exec };

struct ChildPlan {
  const char* program = nullptr;
  char* const* arguments = nullptr;
  char* const* environment = nullptr;
  const int* keep = nullptr;
  std::size_t keep_count = 0;
  int null_fd = -1;
  int output = -1;
  bool limit_cpus = false;
  cpu_set_t cpus;
  pid_t parent = 0;
  // Written by the child, read after it has executed or ended.
  volatile Step failed = Step::none;
  volatile int error = 0;
};

[[noreturn]] void give_up(ChildPlan& plan, Step step) {
  plan.failed = step;
  plan.error = errno;
  _exit(127);
}

void reset_signals() {
  struct sigaction standard;
  std::memset(&standard, 0, sizeof standard);
  standard.sa_handler = SIG_DFL;
  for (int number = 1; number < NSIG; ++number) sigaction(number, &standard, nullptr);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

// Runs in the child: system calls only.
[[noreturn]] void become_worker(ChildPlan& plan) {
  setpgid(0, 0);  // Ctrl-C is for the supervisor alone
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) give_up(plan, Step::death_signal);
  if (getppid() != plan.parent) _exit(0);  // it died before the line above
  reset_signals();
  if (dup2(plan.null_fd, 0) < 0 || dup2(plan.output, 1) < 0 || dup2(plan.output, 2) < 0) {
    give_up(plan, Step::standard_streams);
  }
  // Ours are close-on-exec already; this catches what an embedding program opened. Best effort:
  // kernels before 5.11 lack it.
  syscall(SYS_close_range, 3u, ~0u, CLOSE_RANGE_CLOEXEC);
  for (std::size_t i = 0; i < plan.keep_count; ++i) {
    if (fcntl(plan.keep[i], F_SETFD, 0) != 0) give_up(plan, Step::keep);
  }
  if (plan.limit_cpus && sched_setaffinity(0, sizeof plan.cpus, &plan.cpus) != 0) {
    give_up(plan, Step::cpus);
  }
  execve(plan.program, plan.arguments, plan.environment);
  give_up(plan, Step::exec);
}

// A frame of its own: the child runs on this stack until it executes.
[[gnu::noinline]] pid_t start_child(ChildPlan& plan) {
  const pid_t pid = vfork();
  if (pid == 0) become_worker(plan);
  return pid;
}

std::string step_text(Step step) {
  switch (step) {
    case Step::death_signal:
      return "cannot tie a worker's life to the supervisor's";
    case Step::standard_streams:
      return "cannot connect a worker's output";
    case Step::keep:
      return "cannot hand a descriptor to a worker";
    case Step::cpus:
      return "cannot bind a worker to its `cpus:`";
    default:
      return "cannot execute this program again through /proc/self/exe (is /proc mounted?)";
  }
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> list;
  for (const std::string& text : texts) list.push_back(const_cast<char*>(text.c_str()));
  list.push_back(nullptr);
  return list;
}

Error system_error(const std::string& what, int error) {
  std::string hint;
  if (error == EAGAIN)
    hint =
        "; raise the limit on processes (`ulimit -u`, the cgroup's pids.max) or on address "
        "space (`ulimit -v`)";
  if (error == EMFILE || error == ENFILE) hint = "; raise the limit with `ulimit -n`";
  return Error{concat(what, ": ", std::strerror(error), hint)};
}

void collect(pid_t pid) {
  while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
}

Result<RunningProcess> start_here(const std::string& program, const SpawnRequest& request,
                                  int null_fd) {
  const std::vector<std::string> titles = {request.title};
  const std::vector<char*> arguments = pointers(titles);
  const std::vector<char*> environment = pointers(request.environment);
  ChildPlan plan;
  plan.program = program.c_str();
  plan.arguments = arguments.data();
  plan.environment = environment.data();
  plan.keep = request.keep.data();
  plan.keep_count = request.keep.size();
  plan.null_fd = null_fd;
  plan.output = request.output;
  plan.limit_cpus = !request.cpus.empty();
  plan.parent = getpid();
  CPU_ZERO(&plan.cpus);
  for (int cpu : request.cpus) CPU_SET(static_cast<std::size_t>(cpu), &plan.cpus);

  const pid_t pid = start_child(plan);
  if (pid < 0) return system_error("cannot start a process", errno);
  if (plan.failed != Step::none) {
    collect(pid);
    return system_error(step_text(plan.failed), plan.error);
  }
  int pidfd = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));  // close-on-exec
  // Ended and already reaped, by a handler for SIGCHLD in the embedding program: a descriptor that
  // is readable like that of an ended process, and of which reap() learns as little.
  if (pidfd < 0 && errno == ESRCH) pidfd = eventfd(1, EFD_CLOEXEC);
  if (pidfd < 0) {
    const int error = errno;
    ::kill(pid, SIGKILL);
    collect(pid);
    return system_error("cannot watch a process (Linux 5.3 or newer is needed)", error);
  }
  return RunningProcess{pid, pidfd};
}

}  // namespace

// The thread, and a slot for the one request that is under way.
struct Spawner::Thread {
  std::string program;
  int null_fd = -1;
  std::mutex mutex;
  std::condition_variable changed;
  const SpawnRequest* request = nullptr;
  std::optional<Result<RunningProcess>> answer;
  bool over = false;
  std::thread thread;

  void run() {
    // No handler of the program may run in a child that borrows its memory.
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, nullptr);
    pthread_setname_np(pthread_self(), "spawner");
    std::unique_lock lock(mutex);
    for (;;) {
      changed.wait(lock, [&] { return over || request != nullptr; });
      if (over) return;
      answer = start_here(program, *request, null_fd);
      request = nullptr;
      changed.notify_all();
    }
  }
};

Spawner::Spawner() : thread_(std::make_unique<Thread>()) {}

Result<std::unique_ptr<Spawner>> Spawner::create(std::string program) {
  std::unique_ptr<Spawner> spawner(new Spawner());
  Thread& thread = *spawner->thread_;
  thread.program = std::move(program);
  thread.null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (thread.null_fd < 0) return system_error("cannot open /dev/null", errno);
  try {
    thread.thread = std::thread([&thread] { thread.run(); });
  } catch (const std::system_error& exception) {
    return system_error("cannot start a thread", exception.code().value());
  }
  return spawner;
}

Spawner::~Spawner() {
  if (thread_->thread.joinable()) {
    {
      const std::lock_guard lock(thread_->mutex);
      thread_->over = true;
    }
    thread_->changed.notify_all();
    thread_->thread.join();
  }
  if (thread_->null_fd >= 0) close(thread_->null_fd);
}

Result<RunningProcess> Spawner::start(const SpawnRequest& request) {
  std::unique_lock lock(thread_->mutex);
  thread_->request = &request;
  thread_->changed.notify_all();
  thread_->changed.wait(lock, [&] { return thread_->answer.has_value(); });
  Result<RunningProcess> answer = std::move(*thread_->answer);
  thread_->answer.reset();
  return answer;
}

Ending Spawner::reap(RunningProcess& process) {
  siginfo_t info;
  std::memset(&info, 0, sizeof info);
  int status;
  do {
    status = waitid(static_cast<idtype_t>(P_PIDFD), static_cast<id_t>(process.pidfd), &info,
                    WEXITED | WNOHANG);
  } while (status != 0 && errno == EINTR);
  close(process.pidfd);
  process.pidfd = -1;
  // ECHILD: a handler for SIGCHLD in the embedding program was faster.
  if (status != 0 || info.si_pid == 0) return {Ending::Kind::unknown, 0};
  if (info.si_code == CLD_EXITED) return {Ending::Kind::exited, info.si_status};
  return {Ending::Kind::killed, info.si_status};
}

void Spawner::kill(const RunningProcess& process) {
  if (process.pidfd >= 0) syscall(SYS_pidfd_send_signal, process.pidfd, SIGKILL, nullptr, 0);
}

void Spawner::signal(const RunningProcess& process, int signal) {
  if (process.pidfd >= 0) syscall(SYS_pidfd_send_signal, process.pidfd, signal, nullptr, 0);
}

ProcessCondition condition_of(pid_t pid) {
  std::ifstream status(concat("/proc/", pid, "/status"));
  ProcessCondition condition = ProcessCondition::gone;
  for (std::string line; std::getline(status, line);) {
    if (const auto state = strip_prefix(line, "State:")) {
      const char letter = trim(*state).empty() ? 'X' : trim(*state).front();
      if (letter == 'Z' || letter == 'X') return ProcessCondition::gone;
      condition = letter == 'T' ? ProcessCondition::stopped : ProcessCondition::runs;
    }
    const auto tracer = strip_prefix(line, "TracerPid:");
    if (tracer && trim(*tracer) != "0") return ProcessCondition::traced;
  }
  return condition;
}

std::string ending_text(const Ending& ending) {
  if (ending.kind == Ending::Kind::exited) return concat("exited with code ", ending.code);
  if (ending.kind == Ending::Kind::unknown) return "ended, cause unknown";
  const char* name = sigabbrev_np(ending.code);
  if (name == nullptr) return concat("was killed by signal ", ending.code);
  return concat("was killed by SIG", name);
}

}  // namespace brigade
