#include "pipeline/memory/machine_probe.h"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <brigade/text.h>
#include "base/mapping.h"
#include "pipeline/config/language/launchers.h"
#include "pipeline/config/validate/load_graph.h"
#include "pipeline/memory/cgroups.h"

namespace brigade {
namespace {

namespace fs = std::filesystem;

std::uint64_t limit_of(__rlimit_resource resource, bool hard = false) {
  rlimit limit;
  if (getrlimit(resource, &limit) != 0) return kNoLimit;
  const rlim_t value = hard ? limit.rlim_max : limit.rlim_cur;
  return value == RLIM_INFINITY ? kNoLimit : value;
}

/// CPUs of a process's affinity mask (0: this one's), in the order of their numbers.
std::vector<int> mask_of(pid_t pid) {
  // A mask of a fixed size is refused where the kernel knows more CPUs.
  for (std::size_t most = 1024; most <= (1u << 16); most *= 4) {
    cpu_set_t* const mask = CPU_ALLOC(most);
    const std::size_t bytes = CPU_ALLOC_SIZE(most);
    std::vector<int> cpus;
    if (sched_getaffinity(pid, bytes, mask) == 0) {
      for (std::size_t cpu = 0; cpu < most; ++cpu)
        if (CPU_ISSET_S(cpu, bytes, mask)) cpus.push_back(static_cast<int>(cpu));
    }
    CPU_FREE(mask);
    if (!cpus.empty()) return cpus;
  }
  return {};
}

int number_in(const std::string& path) {
  std::ifstream file(path);
  int number = 0;
  return file >> number ? number : 0;
}

/// Those of one socket, and of them those of one core, beside each other: the number of a core's
/// second thread is often far from its first one's.
void group_by_core(std::vector<int>& cpus) {
  std::map<int, std::tuple<int, int, int>> places;
  for (const int cpu : cpus) {
    const std::string folder = concat("/sys/devices/system/cpu/cpu", cpu, "/topology/");
    places[cpu] = {number_in(folder + "physical_package_id"), number_in(folder + "core_id"), cpu};
  }
  std::sort(cpus.begin(), cpus.end(), [&](int a, int b) { return places[a] < places[b]; });
}

/// Whether it was started with this variable; false also where we may not look.
bool was_started_with(pid_t pid, const std::string& variable) {
  std::ifstream file(concat("/proc/", pid, "/environ"), std::ios::binary);
  for (std::string entry; std::getline(file, entry, '\0');)
    if (entry.starts_with(variable + "=")) return true;
  return false;
}

// "PID (NAME) STATE PPID ...", where NAME may hold anything.
pid_t parent_of(pid_t pid) {
  std::ifstream file(concat("/proc/", pid, "/stat"));
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const std::size_t name_end = text.rfind(") ");
  pid_t parent = 0;
  if (name_end + 4 < text.size())
    std::from_chars(text.data() + name_end + 4, text.data() + text.size(), parent);
  return parent;
}

/// Whether the launcher has started this run on fewer cores than it may use itself. The launcher is
/// the nearest process above that was started without the variable that it sets.
bool is_bound_by_launcher(const std::string& variable, std::size_t cores) {
  constexpr int kGenerationsMax = 16;
  pid_t pid = getppid();
  for (int i = 0; i < kGenerationsMax && pid > 1 && was_started_with(pid, variable); ++i)
    pid = parent_of(pid);
  return pid > 0 && mask_of(pid).size() > cores;
}

void probe_cores(MachineLimits& limits) {
  limits.cpus = mask_of(0);
  limits.cores_affinity = std::max<std::size_t>(limits.cpus.size(), 1);
  const LocalRuns runs = local_runs(process_environment());
  limits.local_world_size = runs.size;
  limits.local_world_said_by = runs.size_variable;
  if (!runs.rank || runs.size == 1) return;
  limits.local_rank = static_cast<std::int64_t>(*runs.rank);
  limits.local_rank_said_by = runs.rank_variable;
  limits.cores_are_its_own = is_bound_by_launcher(runs.rank_variable, limits.cpus.size());
  group_by_core(limits.cpus);
}

// "MemAvailable:   24113340 kB"
std::uint64_t memory_available() {
  std::ifstream file("/proc/meminfo");
  std::string name;
  std::uint64_t kibibytes = 0;
  for (std::string line; std::getline(file, line);) {
    const auto rest = strip_prefix(line, "MemAvailable:");
    if (!rest) continue;
    const std::string_view text = trim(*rest);
    std::from_chars(text.data(), text.data() + text.size(), kibibytes);
    return kibibytes * 1024;
  }
  return kNoLimit;
}

std::uint64_t address_space_used(std::uint64_t page_bytes) {
  std::ifstream file("/proc/self/statm");
  std::uint64_t pages = 0;
  return file >> pages ? pages * page_bytes : 0;
}

std::uint64_t descriptors_used() {
  std::error_code error;
  fs::directory_iterator entries("/proc/self/fd", error);
  return error ? 3 : static_cast<std::uint64_t>(std::distance(entries, {}));
}

std::uint64_t huge_pages(const char* which) {
  std::ifstream file(concat("/sys/kernel/mm/hugepages/hugepages-2048kB/", which));
  std::uint64_t pages = 0;
  return file >> pages ? pages : 0;
}

// Devices of the NVIDIA driver, without loading its library: that takes a tenth of a second.
std::uint64_t gpus() {
  std::uint64_t count = 0;
  while (access(concat("/dev/nvidia", count).c_str(), F_OK) == 0) ++count;
  const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
  if (visible == nullptr) return count;
  const std::string_view list = trim(visible);
  if (list.empty() || list.starts_with("-")) return 0;
  return std::min<std::uint64_t>(count, split(list, ',').size());
}

}  // namespace

MachineLimits probe_machine() {
  MachineLimits limits;
  probe_cores(limits);
  const CgroupLimits cgroups = read_cgroups();
  limits.cores_quota = cgroups.cores;
  limits.cgroup_memory_limit_bytes = cgroups.memory_limit_bytes;
  limits.cgroup_memory_used_bytes = cgroups.memory_used_bytes;
  limits.memory_available_bytes = memory_available();
  limits.file_bytes_max = limit_of(RLIMIT_FSIZE);
  limits.address_space_bytes_max = limit_of(RLIMIT_AS);
  limits.locked_bytes_max = limit_of(RLIMIT_MEMLOCK);
  limits.descriptors_soft = limit_of(RLIMIT_NOFILE);
  limits.descriptors_hard = limit_of(RLIMIT_NOFILE, true);
  limits.page_bytes = static_cast<std::uint64_t>(std::max(sysconf(_SC_PAGESIZE), 1L));
  limits.address_space_used_bytes = address_space_used(limits.page_bytes);
  limits.descriptors_used = descriptors_used();
  limits.huge_pages = huge_pages("nr_hugepages");
  const std::uint64_t promised = huge_pages("resv_hugepages");
  limits.huge_pages_free = std::max(huge_pages("free_hugepages"), promised) - promised;
  limits.has_populate_write = populate_pages(nullptr, 0);
  limits.gpus = gpus();
  return limits;
}

}  // namespace brigade
