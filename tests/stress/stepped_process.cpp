#include "tests/stress/stepped_process.h"

#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include <brigade/check.h>
#include "transports/policy.h"

namespace brigade::stress {
namespace {

constexpr int kNotTraced = 77;

/// A step is two switches between the processes: on one core they cost a third.
void stay_on_one_core() {
  static const bool done = [] {
    cpu_set_t here;
    CPU_ZERO(&here);
    CPU_SET(sched_getcpu(), &here);
    return sched_setaffinity(0, sizeof here, &here) == 0;
  }();
  (void)done;
}

/// The first call of a library's function binds it, by thousands of instructions: not in a region.
void bind_system_calls() {
  std::atomic<std::uint32_t> word{0};
  SystemPolicy::sleep(word, 1);
  SystemPolicy::wake(word);
}

#if defined(__x86_64__)
constexpr bool kKnownMachine = true;
constexpr unsigned char kBreakpoint = 0xcc;
void breakpoint() { asm volatile("int3" ::: "memory"); }

struct Next {
  bool at_breakpoint = false;
  bool fences = false;
  bool sleeps = false;
  const void* wakes = nullptr;
};

/// What the child's next instruction is. Its code is this process's, at the same addresses.
Next next_instruction(pid_t pid) {
  user_regs_struct registers{};
  BRIGADE_CHECK(ptrace(PTRACE_GETREGS, pid, nullptr, &registers) == 0, errno);
  const auto* code = reinterpret_cast<const unsigned char*>(registers.rip);
  Next next;
  next.at_breakpoint = code[0] == kBreakpoint;
  next.fences = code[0] == 0x0f && code[1] == 0xae && code[2] == 0xf8;
  const bool enters_futex = code[0] == 0x0f && code[1] == 0x05 && registers.rax == SYS_futex;
  if (!enters_futex) return next;
  const auto command = registers.rsi & FUTEX_CMD_MASK;
  next.sleeps = command == FUTEX_WAIT;
  if (command == FUTEX_WAKE) next.wakes = reinterpret_cast<const void*>(registers.rdi);
  return next;
}
#else
constexpr bool kKnownMachine = false;
void breakpoint() {}
struct Next {
  bool at_breakpoint = true;
  bool fences = false;
  bool sleeps = false;
  const void* wakes = nullptr;
};
Next next_instruction(pid_t) { return {}; }
#endif

}  // namespace

bool can_step() {
  if (!kKnownMachine) return false;
  static const bool can = [] {
    const pid_t pid = fork();
    if (pid == 0) {
      if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) _exit(kNotTraced);
      raise(SIGSTOP);
      _exit(0);
    }
    int status = 0;
    if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status)) return false;
    bool stepped = ptrace(PTRACE_SINGLESTEP, pid, nullptr, nullptr) == 0;
    stepped = stepped && waitpid(pid, &status, 0) == pid && WIFSTOPPED(status);
    ::kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
    return stepped;
  }();
  return can;
}

void SteppedProcess::mark() { breakpoint(); }

SteppedProcess::SteppedProcess(const std::function<int()>& body) {
  stay_on_one_core();
  bind_system_calls();
  pid_ = fork();
  BRIGADE_CHECK(pid_ >= 0, errno);
  if (pid_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) _exit(kNotTraced);
    _exit(body());
  }
  int status = 0;
  BRIGADE_CHECK(waitpid(pid_, &status, 0) == pid_ && WIFSTOPPED(status), status);
  ptrace(PTRACE_SETOPTIONS, pid_, nullptr, PTRACE_O_EXITKILL);
}

void SteppedProcess::kill() {
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);
  int status = 0;
  while (waitpid(pid_, &status, 0) == pid_ && !WIFSIGNALED(status) && !WIFEXITED(status)) {
  }
  pid_ = -1;
}

bool SteppedProcess::is_asleep() const {
  char text[256] = {};
  std::FILE* file = std::fopen(("/proc/" + std::to_string(pid_) + "/stat").c_str(), "r");
  if (file == nullptr) return false;
  const std::size_t read = std::fread(text, 1, sizeof text - 1, file);
  std::fclose(file);
  const char* end_of_name = read > 0 ? std::strrchr(text, ')') : nullptr;
  return end_of_name != nullptr && end_of_name[1] == ' ' && end_of_name[2] == 'S';
}

SteppedProcess::State SteppedProcess::look(bool may_sleep) {
  int status = 0;
  for (;;) {
    const pid_t found = waitpid(pid_, &status, may_sleep ? WNOHANG : 0);
    if (found == pid_) break;
    BRIGADE_CHECK(found == 0 || errno == EINTR, errno);
    if (may_sleep && is_asleep()) return state_ = State::asleep;
    sched_yield();
  }
  if (WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP) return state_ = State::stopped;
  if (WIFEXITED(status) || WIFSIGNALED(status)) pid_ = -1;
  return state_ = State::broken;
}

SteppedProcess::State SteppedProcess::step() {
  woken_ = nullptr;
  if (state_ == State::asleep) return look(false);
  const Next next = next_instruction(pid_);
  if (next.at_breakpoint) return state_ = State::ended;
  woken_ = next.wakes;
  fenced_ = next.fences;
  BRIGADE_CHECK(ptrace(PTRACE_SINGLESTEP, pid_, nullptr, nullptr) == 0, errno);
  return look(next.sleeps);
}

std::uint64_t SteppedProcess::peek(const void* word) const {
  return static_cast<std::uint64_t>(
      ptrace(PTRACE_PEEKDATA, pid_, const_cast<void*>(word), nullptr));
}

int SteppedProcess::leave() {
  int status = 0;
  do {
    if (ptrace(PTRACE_CONT, pid_, nullptr, nullptr) != 0) return -1;
    if (waitpid(pid_, &status, 0) != pid_) return -1;
  } while (WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP);
  if (WIFSTOPPED(status)) return -1;
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace brigade::stress
