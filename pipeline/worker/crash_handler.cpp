#include "pipeline/worker/crash_handler.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <signal.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>

namespace brigade {
namespace {

constexpr int kFramesMax = 32;
constexpr std::size_t kStackBytes = 64 << 10;

char program[4096];  // its path, as the loader knows it by the name that processes are listed with

/// A line in the making; what does not fit is left out.
class Line {
 public:
  void add(std::string_view text) {
    const std::size_t room = sizeof bytes_ - 1 - size_;
    const std::size_t size = text.size() < room ? text.size() : room;
    std::memcpy(bytes_ + size_, text.data(), size);
    size_ += size;
  }
  void add_hex(std::uint64_t number) {
    char digits[16];
    std::size_t at = sizeof digits;
    do digits[--at] = "0123456789abcdef"[number % 16];
    while ((number /= 16) != 0);
    add("+0x");
    add({digits + at, sizeof digits - at});
  }
  bool write() {
    bytes_[size_++] = '\n';
    return ::write(STDERR_FILENO, bytes_, size_) >= 0;
  }

 private:
  char bytes_[8192];
  std::size_t size_ = 0;
};

/// "FILE(FUNCTION+0x1f)", or "FILE(+0x1234)" as addr2line takes it, where it is not exported.
bool show_frame(void* frame) {
  Line line;
  line.add(kBacktracePrefix);
  Dl_info info{};
  link_map* file = nullptr;
  const auto address = reinterpret_cast<std::uintptr_t>(frame);
  if (dladdr1(frame, &info, reinterpret_cast<void**>(&file), RTLD_DL_LINKMAP) == 0 ||
      file == nullptr) {
    line.add("?(");
    line.add_hex(address);
  } else {
    line.add(file->l_name[0] == '\0' ? program : file->l_name);  // of the program alone it is empty
    line.add("(");
    if (info.dli_sname != nullptr) line.add(info.dli_sname);
    line.add_hex(address - (info.dli_sname != nullptr
                                ? reinterpret_cast<std::uintptr_t>(info.dli_saddr)
                                : file->l_addr));
  }
  line.add(")");
  return line.write();
}

// Only calls that are safe in a handler; backtrace() is once it has been called before.
void show_backtrace(int signal) {
  void* frames[kFramesMax];
  const int count = backtrace(frames, kFramesMax);
  for (int i = 1; i < count; ++i)  // the first one is this function
    if (!show_frame(frames[i])) break;
  raise(signal);  // the handler is gone: this ends the process as the signal does
}

}  // namespace

void install_crash_handler() {
  void* frame[1];
  backtrace(frame, 1);  // loads what it needs now
  if (readlink("/proc/self/exe", program, sizeof program - 1) < 0) program[0] = '?';
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
