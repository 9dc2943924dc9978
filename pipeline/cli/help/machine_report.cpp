#include "pipeline/cli/help/machine_report.h"

#include <brigade/text.h>
#include "base/text_table.h"
#include "base/units.h"
#include "device/pinned_regions.h"

namespace brigade {
namespace {

constexpr std::uint64_t kMemoryFew = std::uint64_t{512} << 20;
constexpr std::uint64_t kDescriptorsFew = 256;

Finding cores(const MachineLimits& limits) {
  const std::uint64_t usable = usable_cores(limits);
  const std::string from = cores_text(limits);
  if (usable >= 4) {
    return {Health::fine, "cores", concat(usable),
            concat(from, "; `replicas: auto` distributes them among the stages")};
  }
  return {
      Health::note, "cores", concat(usable),
      concat(from, "; stages share them: waiting replicas sleep immediately, and more replicas ",
             "gain little")};
}

Finding memory(const MachineLimits& limits) {
  const MemoryRoom room = memory_room(limits, 0);
  if (room.bytes == kNoLimit) return {Health::note, "memory", "unknown", "plans are not checked"};
  const std::string found = concat(format_size(room.bytes), " (", room.limit, ")");
  if (room.bytes >= kMemoryFew) {
    return {Health::fine, "memory", found,
            "a graph whose buffers need more is rejected when it is planned"};
  }
  return {Health::problem, "memory", found, "graphs with large batches are rejected"};
}

std::string limit_text(std::uint64_t bytes) {
  return bytes == kNoLimit ? "no limit" : format_size(bytes);
}

Finding file_size(const MachineLimits& limits) {
  const std::string found = limit_text(limits.file_bytes_max);
  if (limits.file_bytes_max == kNoLimit) {
    return {Health::fine, "file size", found, "buffers of any size are possible"};
  }
  return {Health::problem, "file size", found,
          "no buffer may be larger: shared memory counts as a file (`ulimit -f unlimited`)"};
}

Finding address_space(const MachineLimits& limits) {
  const std::string found = limit_text(limits.address_space_bytes_max);
  if (limits.address_space_bytes_max == kNoLimit) {
    return {Health::fine, "address space", found, "all buffers can be mapped at once"};
  }
  return {Health::problem, "address space", found,
          "all buffers together must fit (`ulimit -v unlimited`)"};
}

Finding descriptors(const MachineLimits& limits) {
  const std::string found = concat(limits.descriptors_soft, ", up to ", limits.descriptors_hard);
  if (limits.descriptors_hard >= kDescriptorsFew) {
    return {Health::fine, "descriptors", found,
            concat("a replica needs 3 and an edge 2: enough for about ",
                   format_count(limits.descriptors_hard / 5), " replicas")};
  }
  return {Health::problem, "descriptors", found,
          "a replica needs 3 and an edge 2; larger graphs are rejected (`ulimit -Hn`)"};
}

bool has_gpu(const MachineLimits& limits, const MachineFacts& facts) {
  return limits.gpus > 0 || !facts.gpu.gpus.empty();
}

Finding locked_memory(const MachineLimits& limits, const MachineFacts& facts) {
  const std::string found = limit_text(limits.locked_bytes_max);
  if (!has_gpu(limits, facts)) {
    return {Health::fine, "locked memory", found, "only buffers of a GPU are locked"};
  }
  if (limits.locked_bytes_max == kNoLimit) {
    return {Health::fine, "locked memory", found, "buffers can be pinned for the GPU"};
  }
  return {Health::note, "locked memory", found,
          "pinning buffers for the GPU may fail; copies are then slower (`ulimit -l`)"};
}

Finding kernel(const MachineLimits& limits, const MachineFacts& facts) {
  const std::string found = facts.kernel.empty() ? "unknown" : facts.kernel;
  if (!facts.has_pidfd) {
    return {Health::problem, "kernel", found,
            "no waitid(P_PIDFD): workers cannot be watched (5.4)"};
  }
  if (!facts.has_memfd) {
    return {Health::problem, "kernel", found, "no memfd_create: shared memory is unavailable"};
  }
  if (!limits.has_populate_write) {
    return {Health::note, "kernel", found,
            "no MADV_POPULATE_WRITE (5.14): the first pass over the buffers is slower"};
  }
  if (pins_little(found) && has_gpu(limits, facts)) {
    return {Health::note, "kernel", found,
            "6.11 to 6.13 may refuse to pin more than 2 GiB at once for a GPU: buffers are pinned "
            "in pieces of 1 GiB, but other programs may fail"};
  }
  return {Health::fine, "kernel", found,
          "workers are watched, buffers are shared and filled in advance"};
}

Finding proc(const MachineFacts& facts) {
  if (facts.has_proc) {
    return {Health::fine, "/proc", "mounted", "the program can start itself as a worker"};
  }
  return {Health::problem, "/proc", "not mounted", "a program cannot start itself as a worker"};
}

Finding huge_pages(const MachineFacts& facts) {
  const std::string found = facts.shm_huge.empty() ? "unknown" : facts.shm_huge;
  const bool always = found == "always" || found == "force" || found == "within_size";
  return {Health::fine, "huge pages", found,
          always ? "large buffers use huge pages: fewer TLB misses, but memory in steps of 2 MiB"
                 : "buffers use pages of 4 KiB, as the plan assumes"};
}

Finding reserved_pages(const MachineLimits& limits) {
  const std::string found =
      concat(limits.huge_pages_free, " of ", limits.huge_pages, " free, of 2 MiB each");
  if (limits.huge_pages > 0)
    return {Health::fine, "hugepages", found, "for buffers of stages with `hugepages: true`"};
  return {Health::fine, "hugepages", found,
          "`hugepages: true` needs some: `sysctl vm.nr_hugepages=N` reserves them"};
}

Finding swap(const MachineFacts& facts) {
  const std::string found = concat(format_size(facts.swap_used_bytes), " used");
  if (facts.swap_used_bytes < kMemoryFew) {
    return {Health::fine, "swap", found, "buffers stay in memory"};
  }
  return {Health::note, "swap", found, "swapped-out buffers slow the pipeline down"};
}

Finding filter(const MachineFacts& facts) {
  if (!facts.filtered)
    return {Health::fine, "seccomp", "no filter", "all system calls are allowed"};
  return {Health::fine, "seccomp", "a filter is active",
          "as in most containers; the lines above show whether it allows what a run needs"};
}

/// The oldest driver that loads the kernels of brigade/cuda.h.
constexpr int kKernelDriverMin = 12000;

Finding gpu_driver(const MachineFacts& facts) {
  const int version = facts.gpu.driver_version;
  const std::string found =
      concat("CUDA ", cuda_version_text(version),
             facts.gpu_driver.empty() ? "" : concat(" (", facts.gpu_driver, ")"));
  if (version >= kKernelDriverMin)
    return {Health::fine, "GPU driver", found, "LibTorch may need a newer driver than Brigade"};
  return {Health::note, "GPU driver", found,
          concat("the kernels of brigade/cuda.h need a driver for CUDA ",
                 cuda_version_text(kKernelDriverMin), " or later")};
}

Finding gpu(const GpuFacts& gpu, std::size_t number) {
  const std::string name = concat("cuda:", number);
  const std::string found = gpu_text(gpu);
  if (!gpu.pins)
    return {Health::note, name, found, "memory cannot be pinned for it: copies are slower"};
  if (gpu.link_is_narrow)
    return {Health::note, name, found, "copies are slower than in a slot with all lanes"};
  if (gpu.has_mps)
    return {Health::note, name, found,
            "processes share it through MPS: a fault in one may end all of them"};
  return {
      Health::fine, name, found,
      concat(gpu.is_part() ? "a part of a GPU (MIG), " : "",
             gpu.pins_read_only ? "buffers are pinned read-only for it"
                                : "read-only buffers cannot be pinned for it: copies are slower")};
}

void add_gpus(const MachineLimits& limits, const MachineFacts& facts,
              std::vector<Finding>& findings) {
  const GpuReport& report = facts.gpu;
  if (report.gpus.empty()) {
    const bool none = limits.gpus == 0 && (report.problem.empty() || !report.has_driver);
    findings.push_back(none ? Finding{Health::fine, "GPU", "none", "`device: auto` means cpu"}
                            : Finding{Health::note, "GPU", "none usable",
                                      report.problem.empty()
                                          ? "check nvidia-smi and CUDA_VISIBLE_DEVICES"
                                          : report.problem});
    return;
  }
  findings.push_back(gpu_driver(facts));
  for (std::size_t number = 0; number < report.gpus.size(); ++number)
    findings.push_back(gpu(report.gpus[number], number));
}

Finding packages(const MachineFacts& facts) {
  const std::string found = facts.modules_found.empty() ? "none" : join(facts.modules_found, ", ");
  if (facts.modules_missing.empty()) {
    return {Health::fine, "packages", found,
            "every stage type that `brigade stages` lists can run"};
  }
  return {Health::note, "packages", found,
          concat("stages of ", join(facts.modules_missing, ", "),
                 " can be checked but not run: the module was not built or not found")};
}

}  // namespace

std::vector<Finding> examine(const MachineLimits& limits, const MachineFacts& facts) {
  std::vector<Finding> findings{
      cores(limits),          memory(limits),      file_size(limits),
      address_space(limits),  descriptors(limits), locked_memory(limits, facts),
      kernel(limits, facts),  proc(facts),         huge_pages(facts),
      reserved_pages(limits), swap(facts),         filter(facts)};
  add_gpus(limits, facts, findings);
  findings.push_back(packages(facts));
  return findings;
}

std::string findings_text(const std::vector<Finding>& findings) {
  TextTable table({Align::left, Align::left, Align::left, Align::left});
  for (const Finding& finding : findings) {
    const char* mark = finding.health == Health::fine   ? "ok"
                       : finding.health == Health::note ? "note"
                                                        : "BAD";
    table.add({mark, finding.what, finding.found, finding.means});
  }
  return table.wrapped("", kTextWidth);
}

}  // namespace brigade
