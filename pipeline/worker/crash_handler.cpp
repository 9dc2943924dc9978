#include "pipeline/worker/crash_handler.h"

#include <execinfo.h>
#include <signal.h>
#include <unistd.h>

namespace brigade {
namespace {

constexpr int kFramesMax = 32;
constexpr std::size_t kStackBytes = 64 << 10;

// Only calls that are safe in a handler; backtrace() is once it has been called before.
void show_backtrace(int signal) {
  void* frames[kFramesMax];
  const int count = backtrace(frames, kFramesMax);
  for (int i = 1; i < count; ++i) {  // the first one is this function
    if (write(STDERR_FILENO, kBacktracePrefix.data(), kBacktracePrefix.size()) < 0) break;
    backtrace_symbols_fd(frames + i, 1, STDERR_FILENO);
  }
  raise(signal);  // the handler is gone: this ends the process as the signal does
}

}  // namespace

void install_crash_handler() {
  void* frame[1];
  backtrace(frame, 1);  // loads what it needs now
  stack_t stack{};
  static char memory[kStackBytes];  // for a stack that has run over
  stack.ss_sp = memory;
  stack.ss_size = sizeof memory;
  sigaltstack(&stack, nullptr);
  for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGSYS}) {
    struct sigaction before {};
    if (sigaction(signal, nullptr, &before) != 0 || before.sa_handler != SIG_DFL) continue;
    struct sigaction action {};
    action.sa_handler = &show_backtrace;
    action.sa_flags = static_cast<int>(SA_RESETHAND | SA_ONSTACK | SA_NODEFER);
    sigaction(signal, &action, nullptr);
  }
}

}  // namespace brigade
