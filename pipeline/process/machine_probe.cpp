#include "pipeline/process/machine_probe.h"

#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "base/text.h"
#include "pipeline/process/cgroups.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

namespace brigade {
namespace {

namespace fs = std::filesystem;

std::uint64_t limit_of(__rlimit_resource resource, bool hard = false) {
  rlimit limit;
  if (getrlimit(resource, &limit) != 0) return kNoLimit;
  const rlim_t value = hard ? limit.rlim_max : limit.rlim_cur;
  return value == RLIM_INFINITY ? kNoLimit : value;
}

std::uint64_t cores_in_mask() {
  // A mask of a fixed size is refused where the kernel knows more CPUs.
  for (std::size_t cpus = 1024; cpus <= (1u << 16); cpus *= 4) {
    cpu_set_t* const mask = CPU_ALLOC(cpus);
    const std::size_t bytes = CPU_ALLOC_SIZE(cpus);
    const bool known = sched_getaffinity(0, bytes, mask) == 0;
    const int count = known ? CPU_COUNT_S(bytes, mask) : 0;
    CPU_FREE(mask);
    if (known && count > 0) return static_cast<std::uint64_t>(count);
  }
  return 1;
}

std::uint64_t number_in_environment(const char* name, std::uint64_t otherwise) {
  const char* const text = std::getenv(name);
  if (text == nullptr) return otherwise;
  const std::string_view view = trim(text);
  std::uint64_t value = 0;
  const auto parsed = std::from_chars(view.data(), view.data() + view.size(), value);
  return parsed.ec == std::errc() && value > 0 ? value : otherwise;
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

bool can_populate(std::uint64_t page_bytes) {
  void* const page =
      mmap(nullptr, page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return false;
  const bool can = madvise(page, page_bytes, MADV_POPULATE_WRITE) == 0;
  munmap(page, page_bytes);
  return can;
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
  limits.cores_affinity = cores_in_mask();
  limits.local_world_size = number_in_environment("LOCAL_WORLD_SIZE", 1);
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
  limits.has_populate_write = can_populate(limits.page_bytes);
  limits.gpus = gpus();
  return limits;
}

}  // namespace brigade
