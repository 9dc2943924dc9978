#pragma once

// The messages between the supervisor and its workers, as JSON on one line each. A
// worker gets its role once, in an environment variable; it sends reports through its
// packet pipe: a report is one write of at most PIPE_BUF bytes, which the kernel
// delivers whole, so reports of several threads and forked children never mix. The pipe
// identifies the sender, not the contents of the packet. Pure functions; any thread.

#include <climits>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <brigade/result.h>
#include <brigade/skipped_inputs.h>
#include "pipeline/memory/shared_segments.h"
#include "pipeline/memory/shared_tensors.h"
#include "pipeline/report/results.h"
#include "pipeline/worker/tasks/run_reporter.h"

namespace brigade {

inline constexpr const char* kRoleVariable = "BRIGADE_WORKER";
/// Longest report; a message that does not fit is cut.
inline constexpr std::size_t kReportBytesMax = PIPE_BUF;
/// Of a subject, which is cut too, so that most of a report is left to its message.
inline constexpr std::size_t kSubjectBytesMax = 256;
static_assert(6 * kSubjectBytesMax < kReportBytesMax / 2, "an escaped byte is up to six");

/// Everything a worker is told before it has read the plan. Descriptors are inherited under the
/// numbers given here.
struct WorkerRole {
  std::string name;       ///< "STAGE.REPLICA"
  StageNumber stage = 0;  ///< index into the plan's stages
  int replica = 0;        ///< of the stage
  int number = 0;         ///< of the replica in the graph
  int supervisor = 0;     ///< its pid: a worker whose parent is another one ends at once
  int control_fd = -1;
  int plan_fd = -1;
  int report_fd = -1;
  int spins = 0;  ///< looks for work before sleeping
  std::vector<RingGrant> rings;
  std::vector<SharedGrant> shared;
  std::vector<DeviceGrant> device;
  int memory_fd = -1;                  ///< makes the device's memory and sends it, no more; else -1
  std::vector<std::string> libraries;  ///< of plugins, with its stage types; absolute paths
  /// Of plugins, with the types of its sources: opened where it has to name one of their samples.
  std::vector<std::string> source_libraries;
  std::uint64_t contract = 0;  ///< hash of its stage type's contract; 0: not known
  friend bool operator==(const WorkerRole&, const WorkerRole&) = default;
};

std::string print_role(const WorkerRole& role);
Result<WorkerRole> parse_role(std::string_view text);

/// open() has returned.
struct Ready {
  std::optional<std::uint64_t> source_size;  ///< of indexed sources: samples per epoch
  std::vector<SkippedInputs> skipped = {};   ///< of those, what is beside them
  friend bool operator==(const Ready&, const Ready&) = default;
};
/// The replica cannot go on, and why.
struct Failed {
  std::string message;
  friend bool operator==(const Failed&, const Failed&) = default;
};
/// A line of the stage for the user.
struct Logged {
  std::string line;
  std::string once = {};  ///< subject of a line that is shown once per stage and run
  friend bool operator==(const Logged&, const Logged&) = default;
};

/// A number the stage reported, so far or finally: the last value of a name wins.
struct Reported {
  std::string name;
  ReportedValue value;
  friend bool operator==(const Reported&, const Reported&) = default;
};
/// All work is done, close() has returned and every number has been reported.
struct Done {
  friend bool operator==(const Done&, const Done&) = default;
};

/// A sample is quarantined because it has ended its worker too often.
struct Quarantined {
  QuarantinedSample sample;
  friend bool operator==(const Quarantined&, const Quarantined&) = default;
};

using ReportContent = std::variant<Ready, Failed, Logged, Reported, Done, Quarantined>;

struct Report {
  int replica = 0;  ///< number in the graph
  ReportContent what;
  friend bool operator==(const Report&, const Report&) = default;
};

/// At most kReportBytesMax bytes; text that does not fit ends in "...", bytes that are not UTF-8
/// are replaced.
std::string print_report(const ReportContent& report);
Result<ReportContent> parse_report(std::string_view text);

}  // namespace brigade
