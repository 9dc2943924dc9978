#include "pipeline/plan/planner/memory_budget.h"

#include <algorithm>

#include <brigade/text.h>
#include "base/arithmetic.h"
#include "base/units.h"
#include "pipeline/plan/caches.h"
#include "pipeline/plan/planner/huge_pages.h"
#include "pipeline/plan/ring_layout.h"
#include "stages/detail/cache_file.h"

namespace brigade {
namespace {

constexpr std::uint64_t kControlBytesFixed = 64 << 10;
constexpr std::uint64_t kControlBytesPerReplica = 16 << 10;
constexpr std::uint64_t kControlBytesPerStage = 16 << 10;
constexpr std::uint64_t kWordBytes = 64;  // words of different processes lie this far apart
constexpr std::uint64_t kListEntryBytes = 8;
constexpr std::uint64_t kQuarantinedTasks = 4;  // whole batches in a quarantine list
constexpr std::size_t kEdgesNamed = 3;

std::uint64_t largest_task(const Plan& plan, const PlanStage& stage) {
  std::uint64_t largest = stage.queues.front().task * stage.fan_out;
  for (const auto& [reader, queue] : stage.readers)
    largest = std::max(largest, plan.stages[reader].queues[queue].task);
  return largest;
}

std::string shared_needs(const PlanShared& shared) {
  return concat("shared tensor ", shared.type.name, " needs ", format_size(shared.bytes));
}

/// One that alone is larger than what is there is said where it stands.
bool check_shared_memory(const ValidGraph& graph, const MachineLimits& limits, const Plan& plan,
                         PlanProblems& problems) {
  const MemoryRoom room = memory_room(limits, graph.memory_bytes_max);
  const std::size_t before = problems.size();
  for (std::size_t i = 0; i < plan.shared.size(); ++i) {
    const PlanShared& shared = plan.shared[i];
    const bool memory = shared.bytes > room.bytes;
    if (!memory && shared.bytes <= limits.file_bytes_max) continue;
    problems.push_back(
        {graph.shared[i].mark, "",
         concat(
             shared_needs(shared), memory ? " of memory, " : ", but a memory file is limited to ",
             format_size(memory ? room.bytes : limits.file_bytes_max),
             memory ? concat(" are available (", room.limit, ")") : " (RLIMIT_FSIZE, `ulimit -f`)"),
         "make its `shape:` smaller"});
  }
  return problems.size() == before;
}

/// "edge augment -> train needs 6 x 38.5 MiB = 231.0 MiB"
std::string edge_needs(const Plan& plan, const PlanStage& stage) {
  const std::uint64_t task = largest_task(plan, stage);
  const std::uint64_t buffer_bytes = multiply_saturating(task, ring_slot_bytes(stage.ring.tensors));
  return concat("edge ", edge_text(plan, stage), " needs ", stage.ring.slots / task, " x ",
                format_size(buffer_bytes), " = ", ring_size_text(stage.ring));
}

/// "cache kept keeps 60,000 slots of 3.1 KiB = 180.0 MiB"
std::string cache_needs(const PlanStage& stage) {
  return concat("cache ", stage.name, " keeps ", format_count(stage.cache.slots), " slots of ",
                stage.cache.sparse ? "at most " : "",
                format_size(ring_slot_bytes(stage.cache.tensors)), " = ",
                ring_size_text(stage.cache));
}

std::vector<const PlanStage*> rings_by_size(const Plan& plan) {
  std::vector<const PlanStage*> stages;
  for (const PlanStage& stage : plan.stages)
    if (stage.has_ring) stages.push_back(&stage);
  std::stable_sort(stages.begin(), stages.end(), [](const PlanStage* a, const PlanStage* b) {
    return a->ring.expected_bytes > b->ring.expected_bytes;
  });
  return stages;
}

std::string largest_edges(const Plan& plan, const std::vector<const PlanStage*>& rings) {
  std::vector<std::string> said;
  for (const PlanStage& stage : plan.stages)
    if (stage.is_cache() && cache_file(stage).empty()) said.push_back(cache_needs(stage));
  const std::size_t caches = said.size();
  for (const PlanStage* stage : rings) {
    if (said.size() == caches + kEdgesNamed) {
      const std::size_t rest = rings.size() - kEdgesNamed;
      said.push_back(concat(rest, rest == 1 ? " smaller edge" : " smaller edges"));
      break;
    }
    said.push_back(edge_needs(plan, *stage));
  }
  for (const PlanShared& shared : plan.shared)
    if (shared.bytes > plan.memory_bytes / 8) said.push_back(shared_needs(shared));
  return join(said, "; ");
}

constexpr const char* kHelp = "make batch:, buffers: or replicas: smaller";
constexpr const char* kCacheHelp = "keep fewer samples (`limit:` of the cache), or smaller ones";

PlanProblem problem_of(const ValidGraph& graph, const Plan& plan, const PlanStage* stage,
                       std::string message) {
  const auto keeps_most = [&](const PlanStage& cache) {
    return cache_file(cache).empty() && cache.cache.expected_bytes > plan.memory_bytes / 2;
  };
  const bool cache = std::any_of(plan.stages.begin(), plan.stages.end(), keeps_most);
  return problem_at(graph.stages[plan.stages.number_of(*stage)], std::move(message),
                    cache ? kCacheHelp : kHelp);
}

void check_total(const ValidGraph& graph, const MachineLimits& limits, const Plan& plan,
                 const std::vector<const PlanStage*>& rings, PlanProblems& problems) {
  const std::uint64_t most = graph.memory_bytes_max;
  MemoryRoom room = memory_room(limits, most);
  std::uint64_t needed = plan.memory_bytes;
  const std::uint64_t all = add_saturating(needed, huge_bytes(plan));
  if (most != 0 && all > most && needed <= room.bytes) {  // `memory:` is for all buffers
    room = {most, "memory:"};
    needed = all;
  }
  if (needed > room.bytes)
    problems.push_back(problem_of(
        graph, plan, rings.front(),
        concat("the graph needs ", format_size(needed), " of memory, ", format_size(room.bytes),
               " are available (", room.limit, "): ", largest_edges(plan, rings))));
  const MemoryRoom space = address_space_room(limits);
  std::uint64_t mapped = add_saturating(worst_bytes(plan), huge_bytes(plan));
  for (const PlanStage& stage : plan.stages)
    if (!cache_file(stage).empty()) mapped = add_saturating(mapped, stage.cache.bytes);
  if (mapped > space.bytes)
    problems.push_back(
        problem_of(graph, plan, rings.front(),
                   concat("the graph needs ", format_size(mapped), " of address space, ",
                          format_size(space.bytes), " are available (", space.limit,
                          "): ", largest_edges(plan, rings))));
}

void check_cache_file(const ValidGraph& graph, const MachineLimits& limits, const Plan& plan,
                      const PlanStage& stage, PlanProblems& problems) {
  if (cache_file(stage).empty()) return;
  const std::uint64_t bytes = add_saturating(stage.cache.bytes, kCacheHeaderBytes);
  if (bytes <= limits.file_bytes_max) return;
  problems.push_back(problem_at(
      graph.stages[plan.stages.number_of(stage)],
      concat(cache_needs(stage), " in ", cache_file(stage), ", but a file is limited to ",
             format_size(limits.file_bytes_max), " (RLIMIT_FSIZE, `ulimit -f`)"),
      kCacheHelp));
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// What the stage calls a tensor of a ring that it reads.
std::string name_in(const PlanStage& stage, const PlanInput& input, const std::string& name) {
  return stage.join == Join::zip ? concat(input.port, '.', name) : name;
}

}  // namespace

std::uint64_t control_bytes_estimate(const Plan& plan) {
  std::uint64_t bytes = kControlBytesFixed;
  bytes += kControlBytesPerReplica * static_cast<std::uint64_t>(plan.replicas);
  for (const PlanStage& stage : plan.stages) {
    bytes += kControlBytesPerStage + stage.skips_max * kListEntryBytes;
    for (const PlanQueue& queue : stage.queues) {
      bytes = add_saturating(bytes, multiply_saturating(queue.window, kWordBytes));
      if (stage.batched) bytes += kQuarantinedTasks * queue.task * kListEntryBytes;
    }
  }
  return round_up(bytes, kArrayAlignment);
}

std::uint64_t scratch_bytes(const Plan& plan, const PlanStage& stage) {
  if (!stage.batched || !stage.empty_slots_possible) return 0;
  std::uint64_t bytes = 0;
  for (const PlanQueue& queue : stage.queues) {
    std::uint64_t slot =
        stage.has_ring ? multiply_saturating(ring_slot_bytes(stage.ring.tensors), stage.fan_out)
                       : 0;
    for (const PlanInput& input : queue.inputs)
      slot = add_saturating(slot, ring_slot_bytes(plan.stages[input.stage].ring.tensors));
    bytes = std::max(bytes, multiply_saturating(slot, queue.task));
  }
  return multiply_saturating(bytes, static_cast<std::uint64_t>(stage.replicas));
}

std::vector<ReadArray> arrays_to_pin(const Plan& plan, const PlanStage& stage) {
  std::vector<ReadArray> arrays;
  for (const PlanQueue& queue : stage.queues) {
    for (const PlanInput& input : queue.inputs) {
      const PlanRing& ring = plan.stages[input.stage].ring;
      for (std::size_t array = 0; array < ring.tensors.size(); ++array) {
        const PlanTensor& tensor = ring.tensors[array];
        const std::string& name = tensor.type.name;
        // A program may copy all that it reads, a consumer does; a transform what its type says.
        const bool is_copied = stage.kind == StageKind::consumer ||
                               contains(stage.uploads, name_in(stage, input, name));
        const bool is_read = is_copied && contains(input.tensors, name);
        const auto same = [&](const ReadArray& other) {
          return other.source == input.stage && other.array == array;
        };
        if (!is_read || tensor.type.ragged() || tensor.type.on_device ||
            std::any_of(arrays.begin(), arrays.end(), same))
          continue;
        arrays.push_back(
            {input.stage, array, round_up(ring.slots * tensor.slot_stride, kArrayAlignment)});
      }
    }
  }
  return arrays;
}

std::uint64_t descriptors_needed(const Plan& plan) {
  std::uint64_t rings = 0;
  for (const PlanStage& stage : plan.stages)  // a device's memory is one, and a socket's end
    rings += (stage.has_ring ? 1 : 0) + (stage.writes_on_device() ? 1 : 0);
  return kDescriptorsOfSupervisor + plan.shared.size() + kDescriptorsPerRing * rings +
         kDescriptorsPerReplica * static_cast<std::uint64_t>(plan.replicas);
}

std::string edge_text(const Plan& plan, const PlanStage& stage) {
  std::vector<std::string> names;
  for (const auto& [reader, queue] : stage.readers)
    if (std::find(names.begin(), names.end(), plan.stages[reader].name) == names.end())
      names.push_back(plan.stages[reader].name);
  return names.empty() ? stage.name : concat(stage.name, " -> ", join(names, ", "));
}

std::string ring_size_text(const PlanRing& ring) {
  if (ring.device_bytes > 0)
    return concat(format_size(ring.bytes), " and ", format_size(ring.device_bytes),
                  " on its device");
  if (ring.expected_bytes == ring.bytes) return format_size(ring.bytes);
  return concat("about ", format_size(ring.expected_bytes), ", at worst ", format_size(ring.bytes));
}

std::uint64_t worst_bytes(const Plan& plan) {
  std::uint64_t bytes = plan.memory_bytes;
  for (const PlanStage& stage : plan.stages) {
    bytes = add_saturating(bytes, stage.ring.bytes - stage.ring.expected_bytes);
    if (cache_file(stage).empty())
      bytes = add_saturating(bytes, stage.cache.bytes - stage.cache.expected_bytes);
  }
  return bytes;
}

void check_memory(const ValidGraph& graph, const MachineLimits& limits, Plan& plan,
                  PlanProblems& problems) {
  plan.memory_bytes = control_bytes_estimate(plan);
  for (const PlanStage& stage : plan.stages) {
    plan.memory_bytes = add_saturating(plan.memory_bytes, scratch_bytes(plan, stage));
    if (stage.has_ring && !stage.ring.huge)
      plan.memory_bytes = add_saturating(plan.memory_bytes, stage.ring.expected_bytes);
    if (cache_file(stage).empty())
      plan.memory_bytes = add_saturating(plan.memory_bytes, stage.cache.expected_bytes);
  }
  for (const PlanShared& shared : plan.shared)
    plan.memory_bytes = add_saturating(plan.memory_bytes, shared.bytes);
  const std::vector<const PlanStage*> rings = rings_by_size(plan);
  if (rings.empty() || !check_shared_memory(graph, limits, plan, problems)) return;
  check_total(graph, limits, plan, rings, problems);
  for (const PlanStage* stage : rings) {
    check_cache_file(graph, limits, plan, *stage, problems);
    if (memory_segment_bytes(*stage) > limits.file_bytes_max)
      problems.push_back(problem_of(
          graph, plan, stage,
          concat(memory_segment_bytes(*stage) > stage->ring.bytes ? cache_needs(*stage)
                                                                  : edge_needs(plan, *stage),
                 ", but a memory file is limited to ", format_size(limits.file_bytes_max),
                 " (RLIMIT_FSIZE, `ulimit -f`)")));
  }
}

void check_descriptors(const MachineLimits& limits, const Plan& plan, PlanProblems& problems) {
  const std::uint64_t needed = add_saturating(descriptors_needed(plan), limits.descriptors_used);
  if (needed <= limits.descriptors_hard) return;
  problems.push_back({SourceMark{}, "",
                      concat("the graph needs ", needed, " file descriptors for its ",
                             plan.replicas, " replicas, but ", limits.descriptors_hard,
                             " are allowed (RLIMIT_NOFILE, `ulimit -Hn`)"),
                      "raise the hard limit, or make replicas: smaller"});
}

}  // namespace brigade
