#include "pipeline/run/launch/spawner.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstring>
#include <fstream>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <brigade/check.h>
#include <brigade/text.h>
#include "base/io.h"
#include "base/owned_fd.h"
#include "base/thread.h"
#include "pipeline/run/launch/wait_to_read.h"

#ifndef P_PIDFD
#define P_PIDFD 3
#endif
#ifndef CLONE_PIDFD
#define CLONE_PIDFD 0x1000
#endif

// clone() of the C library, by the name under which ThreadSanitizer does not take it for a fork
// with memory of its own.
extern "C" int __clone(int (*start)(void*), void* stack, int flags, void* argument, ...);

// The child runs in this process's memory: a sanitizer would take its calls for a thread's of ours.
#define BRIGADE_IN_CHILD [[gnu::no_sanitize_address, gnu::no_sanitize_thread]]

namespace brigade {
namespace {

constexpr std::size_t kChildStackBytes = 64 << 10;

// What a call failed with, in the child that borrows our memory.
enum class Step { none, death_signal, standard_streams, keep, cpus, folder, exec };

struct ChildPlan {
  const char* program = nullptr;
  const char* folder = nullptr;
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

[[noreturn]] BRIGADE_IN_CHILD void give_up(ChildPlan& plan, Step step) {
  plan.failed = step;
  plan.error = errno;
  _exit(127);
}

// The kernel's own calls: those of the C library note down what they change, in our memory.
BRIGADE_IN_CHILD void reset_signals() {
  constexpr std::size_t kMaskBytes = NSIG / 8;
  const unsigned long zeros[8] = {};  // SIG_DFL without flags and mask; no signal blocked
  for (int number = 1; number < NSIG; ++number) {
    syscall(SYS_rt_sigaction, number, zeros, nullptr, kMaskBytes);
  }
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, zeros, nullptr, kMaskBytes);
}

BRIGADE_IN_CHILD bool put(int fd, int place) {
  return fd == place || syscall(SYS_dup3, fd, place, 0) >= 0;
}

// Runs in the child: system calls only.
BRIGADE_IN_CHILD int become_worker(void* argument) {
  ChildPlan& plan = *static_cast<ChildPlan*>(argument);
  setpgid(0, 0);  // Ctrl-C is for the supervisor alone; and what the worker starts goes with it
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) give_up(plan, Step::death_signal);
  if (getppid() != plan.parent) _exit(0);  // it died before the line above
  reset_signals();
  if (!put(plan.null_fd, 0) || !put(plan.output, 1) || !put(plan.output, 2)) {
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
  if (plan.folder != nullptr && chdir(plan.folder) != 0) give_up(plan, Step::folder);
  execve(plan.program, plan.arguments, plan.environment);
  give_up(plan, Step::exec);
}

std::string step_text(Step step, const SpawnRequest& request) {
  switch (step) {
    case Step::death_signal:
      return "cannot set a worker to end with its supervisor";
    case Step::standard_streams:
      return "cannot connect a worker's output";
    case Step::keep:
      return "cannot pass a descriptor to a worker";
    case Step::cpus:
      return "cannot bind a worker to its `cpus:`";
    case Step::folder:
      return concat("cannot change to the folder ", request.folder);
    case Step::none:
    case Step::exec:
      break;
  }
  if (!request.command.empty()) return concat("cannot execute ", request.command.front());
  return "cannot execute this program again through /proc/self/exe (is /proc mounted?)";
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> list;
  for (const std::string& text : texts) list.push_back(const_cast<char*>(text.c_str()));
  list.push_back(nullptr);
  return list;
}

Error cannot_start(const std::string& what, int error, bool script = false) {
  Error cannot = error_of_errno(what, error);
  if (script && (error == ENOEXEC || error == ENOENT))
    cannot.message += "; a script needs a first line such as `#!/usr/bin/python3`";
  if (error == EAGAIN)
    cannot.message +=
        "; raise the limit on processes (`ulimit -u`, the cgroup's pids.max) or on address "
        "space (`ulimit -v`)";
  return cannot;
}

void collect(pid_t pid) {
  retry([&] { return waitpid(pid, nullptr, 0); });
}

Result<RunningProcess> start_here(const std::string& program, const SpawnRequest& request,
                                  int null_fd, std::byte* stack_end) {
  const bool own = request.command.empty();
  const auto words = own ? std::vector<std::string>{request.title} : request.command;
  const std::vector<char*> arguments = pointers(words);
  const std::vector<char*> environment = pointers(request.environment);
  ChildPlan plan;
  plan.program = own ? program.c_str() : words.front().c_str();
  plan.folder = request.folder.empty() ? nullptr : request.folder.c_str();
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

  int pidfd = -1;  // close-on-exec
  const pid_t pid = __clone(&become_worker, stack_end,
                            CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD, &plan, &pidfd);
  if (pid < 0) return cannot_start("cannot start a process", errno);
  if (plan.failed != Step::none) {
    if (pidfd >= 0) close(pidfd);
    collect(pid);
    return cannot_start(step_text(plan.failed, request), plan.error, !own);
  }
  if (pidfd < 0) {  // a kernel that does not know CLONE_PIDFD ignores it
    ::kill(pid, SIGKILL);
    collect(pid);
    return Error{"cannot watch a process: Linux 5.4 or newer is needed"};
  }
  return RunningProcess{pid, pidfd};
}

/// What waitid() says of a process that has ended; si_pid is 0 where it has not, or is not ours.
siginfo_t look_at_end(int pidfd, int options) {
  siginfo_t info{};
  const int status = retry([&] {
    return waitid(static_cast<idtype_t>(P_PIDFD), static_cast<id_t>(pidfd), &info,
                  WEXITED | WNOHANG | options);
  });
  if (status != 0) info.si_pid = 0;
  return info;
}

Ending look_and_end_group(const RunningProcess& process) {
  const siginfo_t info = look_at_end(process.pidfd, WNOWAIT);
  // A handler for SIGCHLD in the embedding program was faster.
  if (info.si_pid == 0) return {Ending::Kind::unknown, 0};
  ::kill(-process.pid, SIGKILL);  // until it is collected its number is nobody else's
  if (info.si_code == CLD_EXITED) return {Ending::Kind::exited, info.si_status};
  return {Ending::Kind::killed, info.si_status};
}

void collect_and_close(RunningProcess& process) {
  look_at_end(process.pidfd, 0);
  close(process.pidfd);
  process.pidfd = -1;
}

void send_signal(const RunningProcess& process, int signal) {
  if (process.pidfd >= 0) syscall(SYS_pidfd_send_signal, process.pidfd, signal, nullptr, 0);
}

}  // namespace

// The thread, and a slot for the one request that is under way.
struct Spawner::Thread {
  std::string program;
  OwnedFd null_fd;
  std::mutex mutex;
  // An eventfd: there is a request, or it is over. A condition variable's wait() would ask for the
  // libstdc++ of GCC 12, where wheels run with older ones, and its semaphores can sleep for ever.
  OwnedFd told;
  std::optional<SpawnRequest> request;
  std::optional<Result<RunningProcess>> answer;
  OwnedFd answered;  // an eventfd
  bool starting = false;
  std::vector<RunningProcess> left;
  bool over = false;
  OwnedFd ended;  // an eventfd
  std::thread thread;
  // Of a child until it executes. The thread's own would do for vfork() alone, which cannot give a
  // pidfd.
  alignas(16) std::array<std::byte, kChildStackBytes> child_stack;

  void run() {
    // No handler of the program may run in a child that borrows its memory.
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, nullptr);
    pthread_setname_np(pthread_self(), "spawner");
    for (;;) {
      eventfd_t count = 0;
      eventfd_read(told.get(), &count);
      std::unique_lock lock(mutex);
      if (over) break;
      if (!request) continue;
      const SpawnRequest asked = *std::exchange(request, std::nullopt);
      starting = true;
      lock.unlock();
      Result<RunningProcess> started =
          start_here(program, asked, null_fd.get(), child_stack.data() + child_stack.size());
      lock.lock();
      starting = false;
      answer = std::move(started);
      eventfd_write(answered.get(), 1);
    }
    collect_left();
    eventfd_write(ended.get(), 1);
  }

  bool has_left() const { return request || starting || answer || !left.empty(); }

  /// When nobody calls any more.
  void collect_left() {
    if (answer && *answer) {
      send_signal(**answer, SIGKILL);
      left.push_back(**answer);
    }
    for (RunningProcess& process : left) {
      wait_to_read(process.pidfd, -1);
      look_and_end_group(process);
      collect_and_close(process);
    }
  }
};

Spawner::Spawner() : thread_(std::make_shared<Thread>()) {}

Result<std::unique_ptr<Spawner>> Spawner::create(std::string program) {
  std::unique_ptr<Spawner> spawner(new Spawner());
  Thread& thread = *spawner->thread_;
  thread.program = std::move(program);
  thread.null_fd.reset(open("/dev/null", O_RDWR | O_CLOEXEC));
  if (thread.null_fd.get() < 0) return error_of_errno("cannot open /dev/null");
  thread.told.reset(eventfd(0, EFD_CLOEXEC));
  thread.answered.reset(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  thread.ended.reset(eventfd(0, EFD_CLOEXEC));
  if (thread.told.get() < 0 || thread.answered.get() < 0 || thread.ended.get() < 0)
    return error_of_errno("cannot open a descriptor");
  BRIGADE_ASSIGN(thread.thread, start_thread([kept = spawner->thread_] { kept->run(); }));
  return spawner;
}

Spawner::~Spawner() {
  if (!thread_->thread.joinable()) return;
  bool has_left = false;
  {
    const std::lock_guard lock(thread_->mutex);
    has_left = thread_->has_left();
    thread_->over = true;
  }
  eventfd_write(thread_->told.get(), 1);
  if (has_left && !wait_to_read(thread_->ended.get(), kLeftTimeoutMs))
    thread_->thread.detach();  // it keeps what it works with
  else
    thread_->thread.join();
}

void Spawner::start(SpawnRequest request) {
  {
    const std::lock_guard lock(thread_->mutex);
    BRIGADE_CHECK(!thread_->request && !thread_->answer, "a start is under way");
    thread_->request = std::move(request);
  }
  eventfd_write(thread_->told.get(), 1);
}

int Spawner::started_fd() const { return thread_->answered.get(); }

std::optional<Result<RunningProcess>> Spawner::take_started() {
  eventfd_t count = 0;
  eventfd_read(thread_->answered.get(), &count);
  const std::lock_guard lock(thread_->mutex);
  return std::exchange(thread_->answer, std::nullopt);
}

Ending Spawner::end(const RunningProcess& process) { return look_and_end_group(process); }

void Spawner::reap(RunningProcess& process) { collect_and_close(process); }

void Spawner::kill(const RunningProcess& process) { send_signal(process, SIGKILL); }

void Spawner::signal(const RunningProcess& process, int signal) { send_signal(process, signal); }

void Spawner::leave(RunningProcess& process) {
  const std::lock_guard lock(thread_->mutex);
  thread_->left.push_back(std::exchange(process, {}));
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
