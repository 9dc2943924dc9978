#include "pipeline/process/doctor.h"

#include <algorithm>

#include "pipeline/process/commands/commands.h"
#include "pipeline/process/commands/print.h"
#include "pipeline/process/machine_probe.h"

namespace brigade {

int doctor_command(const StageTypes& types) {
  std::vector<std::string> modules;
  for (const StageType& type : types.all()) {
    const bool known = std::find(modules.begin(), modules.end(), type.module) != modules.end();
    if (!type.module.empty() && !known) modules.push_back(type.module);
  }
  const std::vector<Finding> findings = examine(probe_machine(), probe_facts(modules));
  print(findings_text(findings));
  const bool bad = std::any_of(findings.begin(), findings.end(), [](const Finding& finding) {
    return finding.health == Health::problem;
  });
  return bad ? 1 : 0;
}

}  // namespace brigade
