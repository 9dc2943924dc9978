#pragma once

// The properties of this machine that affect a run, each with its effect: `brigade doctor`.
// Probes collect the facts; the assessment is pure, so that a test can describe any machine.

#include <cstdint>
#include <string>
#include <vector>

#include "device/gpu_report.h"
#include "pipeline/plan/planner/machine_limits.h"

namespace brigade {

/// What only the doctor asks, beyond MachineLimits.
struct MachineFacts {
  std::string kernel;     ///< "6.1.0"; empty: unknown
  bool has_pidfd = true;  ///< and waitid() of one: Linux 5.4
  bool has_memfd = true;
  bool has_proc = true;  ///< /proc/self/exe can be read
  std::string shm_huge;  ///< transparent huge pages for shared memory: "never", "advise", ...
  std::uint64_t swap_used_bytes = 0;
  bool filtered = false;   ///< a seccomp filter is on (containers)
  std::string gpu_driver;  ///< of NVIDIA, in the kernel; empty: none
  GpuReport gpu;           ///< what that driver says
  std::vector<std::string> modules_found;
  std::vector<std::string> modules_missing;  ///< that stage types of this program are in
};

MachineFacts probe_facts(const std::vector<std::string>& modules);

enum class Health : std::uint8_t { fine, note, problem };

struct Finding {
  Health health = Health::fine;
  std::string what;   ///< "cores"
  std::string found;  ///< "2"
  std::string means;  ///< what it means for a run
};

std::vector<Finding> examine(const MachineLimits& limits, const MachineFacts& facts);

/// A line per finding.
std::string findings_text(const std::vector<Finding>& findings);

}  // namespace brigade
