#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <fstream>

#include <brigade/text.h>
#include "base/owned_fd.h"
#include "device/pinned_regions.h"
#include "pipeline/cli/help/machine_report.h"
#include "pipeline/worker/module_loader.h"

#ifndef P_PIDFD
#define P_PIDFD 3
#endif

namespace brigade {
namespace {

// The number behind "NAME:" in a file of lines like "SwapTotal:  1024 kB"; 0 where there is none.
std::uint64_t number_behind(const char* path, std::string_view name) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const auto rest = strip_prefix(line, name);
    if (!rest) continue;
    const std::string_view text = trim(*rest);
    std::uint64_t number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
  }
  return 0;
}

bool can_watch_processes() {
  const OwnedFd self(static_cast<int>(syscall(SYS_pidfd_open, getpid(), 0)));
  siginfo_t info;
  waitid(static_cast<idtype_t>(P_PIDFD), static_cast<id_t>(self.get()), &info, WEXITED | WNOHANG);
  return self.get() >= 0 && errno == ECHILD;  // known, but no child of this process
}

bool can_share_memory() {
  const int fd = memfd_create("brigade-doctor", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd >= 0) close(fd);
  return fd >= 0;
}

// "always within_size [never] advise": the one in brackets.
std::string chosen_in(const char* path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  const auto first = line.find('[');
  const auto last = line.find(']');
  return first == line.npos || last == line.npos ? "" : line.substr(first + 1, last - first - 1);
}

// "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue ...": the third of its parts.
std::string gpu_driver() {
  std::ifstream file("/proc/driver/nvidia/version");
  std::string line;
  std::getline(file, line);
  for (std::string_view word : split(line, ' ')) {
    if (!word.empty() && word.find_first_not_of("0123456789.") == word.npos &&
        word.find('.') != word.npos) {
      return std::string(word);
    }
  }
  return "";
}

}  // namespace

MachineFacts probe_facts(const std::vector<std::string>& modules) {
  MachineFacts facts;
  facts.kernel = running_kernel();
  facts.has_pidfd = can_watch_processes();
  facts.has_memfd = can_share_memory();
  facts.has_proc = access("/proc/self/exe", R_OK) == 0;
  facts.shm_huge = chosen_in("/sys/kernel/mm/transparent_hugepage/shmem_enabled");
  const std::uint64_t total = number_behind("/proc/meminfo", "SwapTotal:");
  const std::uint64_t free = number_behind("/proc/meminfo", "SwapFree:");
  facts.swap_used_bytes = (total - std::min(free, total)) * 1024;
  facts.filtered = number_behind("/proc/self/status", "Seccomp:") == 2;
  facts.gpu_driver = gpu_driver();
  facts.gpu = report_gpus();
  for (const std::string& module : modules) {
    (find_module_file(module) ? facts.modules_found : facts.modules_missing).push_back(module);
  }
  return facts;
}

}  // namespace brigade
