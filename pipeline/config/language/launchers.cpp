#include "pipeline/config/language/launchers.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include <brigade/text.h>

namespace brigade {
namespace {

std::optional<std::uint64_t> number(const Environment& environment, const char* name) {
  const auto value = environment(name);
  if (!value) return std::nullopt;
  const std::string_view text = trim(*value);
  const char* const end = text.data() + text.size();
  std::uint64_t read = 0;
  const auto parsed = std::from_chars(text.data(), end, read);
  if (parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
  return read;
}

bool has(const Environment& environment, const char* name) { return environment(name).has_value(); }

constexpr const char* kTasksPerNode = "SLURM_STEP_TASKS_PER_NODE";

/// Of "4" or "4(x2)", machines with 4 each, the 4; not of "4,3".
std::optional<std::uint64_t> slurm_tasks(const Environment& environment) {
  auto value = environment(kTasksPerNode);
  if (!value || value->find(',') != value->npos) return std::nullopt;
  value->resize(std::min(value->find('('), value->size()));
  return number([&](const std::string&) { return value; }, kTasksPerNode);
}

void find_size(const Environment& environment, const Launcher& launcher, LocalRuns& runs) {
  auto size = number(environment, launcher.local_world);
  runs.size_variable = launcher.local_world;
  if (!size && &launcher == &kLaunchers.back()) {
    size = slurm_tasks(environment);
    runs.size_variable = kTasksPerNode;
  }
  runs.size = size.value_or(0);
}

}  // namespace

LocalRuns local_runs(const Environment& environment) {
  if (environment == nullptr) return {};
  for (const Launcher& launcher : kLaunchers) {
    const bool alone = &launcher == &kLaunchers.front();
    if (!alone && !has(environment, launcher.rank) && !has(environment, launcher.local_rank))
      continue;
    LocalRuns runs;
    find_size(environment, launcher, runs);
    if (runs.size == 0) continue;
    runs.rank = number(environment, launcher.local_rank);
    if (runs.rank && *runs.rank >= runs.size) runs.rank.reset();
    if (runs.rank) runs.rank_variable = launcher.local_rank;
    return runs;
  }
  return {};
}

}  // namespace brigade
