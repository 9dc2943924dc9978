#include "pipeline/run/launch/worker_environment.h"

#include <optional>

#include <brigade/text.h>
#include "pipeline/config/language/launchers.h"
#include "pipeline/worker/messages.h"
#include "pipeline/worker/worker.h"

namespace brigade {
namespace {

void remove_variable(std::vector<std::string>& environment, const std::string& name) {
  const std::string start = name + "=";
  std::erase_if(environment, [&](const std::string& entry) { return entry.starts_with(start); });
}

void set_variable(std::vector<std::string>& environment, const std::string& name,
                  const std::string& value) {
  remove_variable(environment, name);
  environment.push_back(concat(name, "=", value));
}

std::optional<std::string> find(const std::vector<std::string>& environment,
                                const std::string& name) {
  const std::string start = name + "=";
  for (const std::string& entry : environment)
    if (entry.starts_with(start)) return entry.substr(start.size());
  return std::nullopt;
}

/// A fault happens once, unless it says that it comes again: then to successors, too.
void keep_recurring_faults(std::vector<std::string>& environment) {
  const std::string faults = find(environment, kFaultVariable).value_or("");
  std::string kept;
  for (const std::string_view fault : split(faults, ','))
    if (fault.find("+:") != fault.npos) kept += concat(kept.empty() ? "" : ",", fault);
  remove_variable(environment, kFaultVariable);
  if (!kept.empty()) set_variable(environment, kFaultVariable, kept);
}

}  // namespace

std::vector<std::string> environment_of_rank(std::vector<std::string> base, const Shard& shard) {
  if (shard.world > 1 || find(base, "WORLD_SIZE")) {
    set_variable(base, "RANK", concat(shard.rank));
    set_variable(base, "WORLD_SIZE", concat(shard.world));
  }
  return base;
}

std::vector<std::string> worker_environment(const std::vector<std::string>& base,
                                            const PlanStage& stage, const std::string& role,
                                            bool again, const std::string& library) {
  std::vector<std::string> environment = base;
  for (const char* name :
       {"OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "OPENCV_FOR_THREADS_NUM"}) {
    set_variable(environment, name, concat(stage.threads));
  }
  // By which GPU stages take turns, whichever launcher said it.
  const LocalRuns runs = local_runs([&base](const std::string& name) { return find(base, name); });
  if (runs.rank && !find(base, "LOCAL_RANK"))
    set_variable(environment, "LOCAL_RANK", concat(*runs.rank));
  if (stage.is_exec() && !library.empty()) set_variable(environment, kLibraryVariable, library);
  for (const auto& [name, value] : stage.env) set_variable(environment, name, value);
  set_variable(environment, kRoleVariable, role);
  if (again) keep_recurring_faults(environment);
  return environment;
}

}  // namespace brigade
