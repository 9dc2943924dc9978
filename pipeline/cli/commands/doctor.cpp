#include "pipeline/cli/help/machine_report.h"

#include <algorithm>
#include <utility>

#include "pipeline/cli/commands/busy_threads.h"
#include "pipeline/cli/commands/commands.h"
#include "pipeline/cli/commands/print.h"
#include "pipeline/memory/machine_probe.h"

namespace brigade {
namespace {

constexpr const char* kDoctorExamples = R"(Example:
  brigade doctor

Prints one line per finding: ok, note (a run works, but not as well as it could) or BAD (some graphs
are rejected), and what it means for a run. Exit codes: 0 nothing is BAD, 1 something is BAD.)";

struct NoArguments {};

void declare(Options&, NoArguments&) {}

int examine_machine(const NoArguments&, const StageTypes& types, std::int64_t) {
  std::vector<std::string> modules;
  for (const StageType& type : types.all()) {
    const bool known = std::find(modules.begin(), modules.end(), type.module) != modules.end();
    if (!type.module.empty() && !known) modules.push_back(type.module);
  }
  const MachineLimits limits = probe_machine();
  std::vector<Finding> findings = examine(limits, probe_facts(modules));
  for (Finding& graph : crowded(look_at_running_graphs(), usable_cores(limits)))
    findings.push_back(std::move(graph));
  print(findings_text(findings));
  const bool bad = std::any_of(findings.begin(), findings.end(), [](const Finding& finding) {
    return finding.health == Health::problem;
  });
  return bad ? 1 : 0;
}

}  // namespace

Command doctor_command() {
  return make_command<NoArguments>("doctor", "check what helps or hurts a run on this machine",
                                   kDoctorExamples, declare, examine_machine);
}

}  // namespace brigade
