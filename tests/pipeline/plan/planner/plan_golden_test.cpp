// What the planner makes of graphs, in numbers, and what it says of them: tests/golden/plans, in
// the form of tests/support/config/golden_cases.h. The machine has 2 cores and 8 GiB, unless
// `#! machine NAME=VALUE ...` says otherwise; as a setting of `#! with` it is
// `machine.NAME=VALUE`. `#! show machine` adds what is left of the machine, `#! show printed` is
// the plan as people see it, and `#! show drawn` the graph.

#include "pipeline/plan/planner/huge_pages.h"
#include "pipeline/plan/planner/machine_limits.h"
#include "pipeline/plan/planner/unknown_length.h"
#include "pipeline/plan/planner/zipped_sources.h"

#include <gtest/gtest.h>

#include "base/units.h"
#include "pipeline/cli/draw/graph_printer.h"
#include "pipeline/cli/draw/plan_printer.h"
#include "pipeline/plan/consumer_epochs.h"
#include "pipeline/plan/plan_check.h"
#include "pipeline/plan/planner/memory_budget.h"
#include "pipeline/plan/planner/planner.h"
#include "tests/support/config/fake_plan_types.h"
#include "tests/support/config/golden_cases.h"
#include "tests/support/config/load_text.h"
#include "tests/support/golden.h"
#include "tests/support/plan_limits.h"

namespace brigade {
namespace {

void set_limit(const std::string& setting, MachineLimits& limits) {
  const std::size_t equals = setting.find('=');
  const std::string name = setting.substr(0, equals);
  const std::string value = setting.substr(equals + 1);
  if (name == "cpus") {
    limits.cpus.clear();
    for (const std::string_view cpu : split(value, ','))
      limits.cpus.push_back(std::stoi(std::string(cpu)));
    limits.cores_affinity = limits.cpus.size();
    return;
  }
  if (name == "quota") limits.cores_quota = std::stod(value);
  if (name == "rank") limits.local_rank = std::stoll(value);
  if (name == "runs_by") limits.local_world_said_by = value;
  if (name == "rank_by") limits.local_rank_said_by = value;
  if (name == "own_cores") limits.cores_are_its_own = value == "true";
  const std::map<std::string, std::uint64_t MachineLimits::*> members = {
      {"cores", &MachineLimits::cores_affinity},
      {"runs", &MachineLimits::local_world_size},
      {"memory", &MachineLimits::memory_available_bytes},
      {"cgroup", &MachineLimits::cgroup_memory_limit_bytes},
      {"cgroup_used", &MachineLimits::cgroup_memory_used_bytes},
      {"file", &MachineLimits::file_bytes_max},
      {"addresses", &MachineLimits::address_space_bytes_max},
      {"addresses_used", &MachineLimits::address_space_used_bytes},
      {"descriptors", &MachineLimits::descriptors_hard},
      {"descriptors_used", &MachineLimits::descriptors_used},
      {"huge", &MachineLimits::huge_pages},
      {"huge_free", &MachineLimits::huge_pages_free}};
  const auto member = members.find(name);
  if (member == members.end()) return;
  limits.*member->second = value == "none" ? kNoLimit : parse_size(value).value();
}

std::string machine_text(const MachineLimits& limits, std::uint64_t asked_bytes) {
  const MemoryRoom memory = memory_room(limits, asked_bytes);
  const MemoryRoom addresses = address_space_room(limits);
  return concat("machine: ", usable_cores(limits), " cores: ", cores_text(limits),
                "\nmachine: ", memory.bytes, " bytes: ", memory.limit,
                "\nmachine: ", addresses.bytes, " addresses: ", addresses.limit, "\n");
}

std::string queue_text(const Plan& plan, const PlanQueue& queue) {
  std::string text = concat("  queue of space ", queue.index_space.value(), ": task ", queue.task,
                            ", window ", queue.window, queue.in_order ? ", in order" : "");
  for (const PlanInput& input : queue.inputs)
    text += concat(", reads ", plan.stages[input.stage].name, " as ", input.port);
  return text + "\n";
}

std::string ring_text(const char* what, const PlanRing& ring) {
  std::string text = concat("  ", what, ": ", ring.slots, " slots");
  for (std::size_t i = 0; i < ring.terms.size(); ++i)
    text += concat(i == 0 ? " = " : " + ", ring.terms[i].slots, " ", ring.terms[i].what);
  text += concat(", ", ring.bytes, " bytes", ring.huge ? " in huge pages" : "");
  if (ring.sparse) text += concat(", expected ", ring.expected_bytes);
  return text + "\n";
}

std::string stage_text(const Plan& plan, const PlanStage& stage) {
  std::string text = concat(stage.name, ": ", stage.replicas, " from ", stage.first_replica);
  if (stage.threads != 1) text += concat(", threads ", stage.threads);
  if (!stage.cpus.empty()) text += concat(", cpus ", cpus_text(stage.cpus));
  if (stage.seed != plan.seed) text += concat(", seed ", stage.seed);
  if (stage.random != stage.name) text += concat(", random ", stage.random);
  if (stage.max_wait_ns != 0) text += concat(", waits ", stage.max_wait_ns, " ns");
  if (stage.skips_max != 0) text += concat(", skips ", stage.skips_max);
  if (stage.empty_slots_possible) text += ", may have empty slots";
  for (const PlanPass& pass : stage.passes)
    text += concat(", passes ", pass.name, " of ", pass.input);
  if (const std::uint64_t bytes = scratch_bytes(plan, stage)) text += concat(", scratch ", bytes);
  text += "\n";
  for (const PlanQueue& queue : stage.queues) text += queue_text(plan, queue);
  if (stage.has_ring) text += ring_text("ring", stage.ring);
  if (stage.is_cache()) text += ring_text("cache", stage.cache);
  return text;
}

std::string plan_text(const ValidGraph& graph, const Plan& plan) {
  std::string text;
  for (const PlanStage& stage : plan.stages) text += stage_text(plan, stage);
  for (std::size_t i = 0; i < plan.index_spaces.size(); ++i) {
    const auto space = IndexSpaceNumber(static_cast<int>(i));
    text += concat("space ", i, ": multiple ", plan.index_spaces[space].multiple, ", epochs ",
                   index_space_epochs(plan, space), "\n");
  }
  for (const ConsumerEpoch& epoch : consumer_epochs(graph, plan)) {
    text += concat("epoch of ", epoch.stage, " from ", epoch.port, ":");
    if (epoch.samples) text += concat(" ", *epoch.samples, " samples");
    if (epoch.batches) text += concat(" in ", *epoch.batches, " batches");
    text += epoch.unknown.empty() ? "\n" : concat(" ", epoch.unknown, "\n");
  }
  text += concat("memory: ", plan.memory_bytes, "\ndescriptors: ", descriptors_needed(plan), "\n");
  for (const std::string& warning : plan.warnings) text += concat("warning: ", warning, "\n");
  return text;
}

Answer planned(const std::string& text, const std::vector<std::string>& settings) {
  LoadText load;
  load.types = &fake_plan_types();
  MachineLimits limits = small_machine();
  for (const std::string& line : directives(text, "machine"))
    for (const std::string_view one : split(line, ' ')) set_limit(std::string(one), limits);
  for (const std::string& setting : settings) {
    if (const auto limit = strip_prefix(setting, "machine."))
      set_limit(std::string(*limit), limits);
    else
      load.sets.push_back(setting);
  }
  const LoadedGraph loaded = load(text);
  if (!loaded.graph) return {concat("refused before:\n", loaded.messages()), false};
  const PlanResult result = plan_graph(*loaded.graph, limits);
  std::string problems;
  for (const PlanProblem& problem : result.problems)
    problems += concat("problem of ", problem.stage.empty() ? "the graph" : problem.stage, ": ",
                       problem.message, "\n  ", problem.help, "\n");
  const auto shows = directives(text, "show");
  const std::string show = shows.empty() ? "" : shows[0];
  std::string machine;
  if (show == "machine") machine = machine_text(limits, loaded.graph->memory_bytes_max);
  if (!result.ok()) return {problems + machine, false};
  EXPECT_TRUE(check_plan(result.plan).ok()) << text;
  const ValidGraph& graph = *loaded.graph;
  if (show == "drawn") return {draw_ascii(graph) + draw_dot(graph)};
  if (show == "printed")
    return {print_plan(result.plan, limits, memory_room(limits, graph.memory_bytes_max),
                       planned_sources(graph, result.plan), consumer_epochs(graph, result.plan))};
  return {plan_text(graph, result.plan) + machine};
}

class PlanGolden : public testing::TestWithParam<std::string> {};

TEST_P(PlanGolden, NumbersAndMessagesAreWordForWord) {
  std::string all;
  for (const auto& [name, texts] : golden_cases(GetParam(), "plans")) {
    SCOPED_TRACE(name);
    const std::string& text = texts.at(0);
    all += concat("=== ", name, "\n", text, "=== says\n",
                  answers(text, [&](const auto& settings) { return planned(text, settings); }));
  }
  expect_golden(concat("plans/", GetParam(), ".txt"), all);
}

INSTANTIATE_TEST_SUITE_P(Files, PlanGolden, testing::ValuesIn(golden_files("plans")),
                         [](const auto& file) { return file.param; });

}  // namespace
}  // namespace brigade
