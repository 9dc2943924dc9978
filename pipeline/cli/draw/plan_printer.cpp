#include "pipeline/cli/draw/plan_printer.h"

#include <algorithm>

#include <brigade/text.h>
#include "base/printable.h"
#include "base/text_table.h"
#include "base/units.h"
#include "pipeline/plan/caches.h"
#include "pipeline/plan/planner/huge_pages.h"
#include "pipeline/plan/planner/memory_budget.h"
#include "pipeline/plan/planner/thread_budget.h"
#include "pipeline/plan/planner/turns.h"
#include "pipeline/plan/ring_layout.h"
#include "stages/detail/cache_file.h"

namespace brigade {
namespace {

constexpr const char* kIndent = "  ";

std::string counted(std::uint64_t count, const std::string& noun, const char* plural = "s") {
  return concat(format_count(count), " ", noun, count == 1 ? "" : plural);
}

std::string head(const Plan& plan, const MachineLimits& limits) {
  int threads = 0;
  for (const PlanStage& stage : plan.stages)
    if (!stage.is_application()) threads += stage.replicas * stage.threads;
  std::string out = plan.name.empty() ? "plan" : concat("plan of ", printable(plan.name));
  if (!plan.file.empty()) out += concat(" (", printable(plan.file), ")");
  return concat(out, ": ", processes_text(plan), " with ", counted(threads, "thread"), " on ",
                counted(usable_cores(limits), "core"), ", ", counted(plan.epochs, "epoch"), "\n");
}

/// "256 as a batch" where process() sees batches, "64 one by one, 4 of each".
std::string task_text(const PlanStage& stage) {
  std::vector<std::string> sizes;
  for (const PlanQueue& queue : stage.queues) sizes.push_back(format_count(queue.task));
  if (stage.flat_map_outputs > 0) sizes.resize(1);  // of all its task queues
  return concat(join(sizes, ", "), stage.batched ? " as a batch" : " one by one",
                stage.fan_out == 1 ? "" : concat(", ", stage.fan_out, " per input"));
}

std::string source_text(const Plan& plan, const PlanStage& stage) {
  std::vector<std::string> names;
  for (const PlanQueue& queue : stage.queues)
    for (const PlanInput& input : queue.inputs) names.push_back(plan.stages[input.stage].name);
  return names.empty() ? "-" : join(names, ", ");
}

std::string stages_table(const Plan& plan) {
  TextTable table({Align::left, Align::left, Align::left, Align::right, Align::right, Align::left,
                   Align::left});
  table.add({"stage", "type", "from", "processes", "threads", "samples per task", "device"});
  for (const PlanStage& stage : plan.stages)
    table.add({stage.name, stage.type, source_text(plan, stage),
               stage.is_application() ? "the program" : concat(stage.replicas),
               concat(stage.threads), task_text(stage), stage.device});
  return table.text(kIndent);
}

/// What there is and where from, and what is wanted of it.
std::string cores_table(const Plan& plan, const MachineLimits& limits) {
  TextTable table({Align::right, Align::left});
  table.add({format_count(usable_cores(limits)), concat("available: ", cores_text(limits))});
  ByStage<std::uint64_t> threads(plan.stages.size());
  for (const StageNumber s : plan.stages.numbers()) {
    const PlanStage& stage = plan.stages[s];
    const auto each = static_cast<std::uint64_t>(stage.threads);
    if (wants_cores(stage.kind, each))
      threads[s] = static_cast<std::uint64_t>(stage.replicas) * each;
  }
  const auto [wanted, working] = busiest(turns_of(plan), threads);
  std::vector<std::string> terms;
  std::vector<std::string> others;
  for (const StageNumber s : plan.stages.numbers()) {
    const PlanStage& stage = plan.stages[s];
    if (threads[s] > 0)
      (working[s] ? terms : others)
          .push_back(concat(stage.replicas, " x ", stage.threads, " in ", stage.name));
  }
  const std::string rest =
      others.empty() ? "" : concat("; not at the same time: ", join(others, ", "));
  if (wanted > 0) table.add({format_count(wanted), concat("needed: ", join(terms, " + "), rest)});
  return table.text(kIndent);
}

std::string ring_text(const Plan& plan, const PlanStage& stage) {
  const std::uint64_t slot_bytes = ring_slot_bytes(stage.ring.tensors);
  std::string out =
      concat(kIndent, edge_text(plan, stage), ": ", format_count(stage.ring.slots), " slots of ",
             stage.ring.sparse ? "at most " : "", format_size(slot_bytes), " = ",
             ring_size_text(stage.ring), stage.ring.huge ? ", in huge pages" : "", "\n");
  TextTable table({Align::right, Align::left});
  for (const PlanTerm& term : stage.ring.terms) table.add({format_count(term.slots), term.what});
  return out + table.text("    ");
}

std::string ring_line(const Plan& plan, const PlanStage& stage) {
  const std::string edge = edge_text(plan, stage);
  if (stage.ring.expected_bytes == stage.ring.bytes) return edge;
  return concat(edge, ", at worst ", format_size(stage.ring.bytes));
}

std::string cache_line(const PlanStage& stage) {
  const PlanRing& cache = stage.cache;
  return concat("cached by ", stage.name, ": ", counted(cache.slots, "slot"), " of ",
                cache.sparse ? "at most " : "", format_size(ring_slot_bytes(cache.tensors)),
                cache.sparse ? concat(", at worst ", format_size(cache.bytes)) : "");
}

/// Page cache, which the system takes back when it needs memory.
std::string files_text(const Plan& plan) {
  TextTable table({Align::right, Align::left});
  bool any = false;
  for (const PlanStage& stage : plan.stages) {
    if (cache_file(stage).empty()) continue;
    any = true;
    table.add({format_size(stage.cache.bytes + kCacheHeaderBytes),
               concat("in ", cache_file(stage), ", ", cache_line(stage))});
  }
  if (!any) return "";
  return concat("\ndisk, and page cache while memory is free\n", table.text(kIndent));
}

/// "shared weights f32[1000], by train"
std::string shared_line(const Plan& plan, const PlanShared& shared) {
  const int index = static_cast<int>(&shared - plan.shared.data());
  std::vector<std::string> names;
  for (const PlanStage& stage : plan.stages)
    if (std::find(stage.shared.begin(), stage.shared.end(), index) != stage.shared.end())
      names.push_back(stage.name);
  return concat("shared ", shared.type.text(), names.empty() ? "" : ", by ", join(names, ", "),
                shared.own_part ? concat(", in ", shared.parts, " parts") : "");
}

std::string memory_table(const Plan& plan, const MemoryRoom& room) {
  TextTable table({Align::right, Align::left});
  for (const PlanStage& stage : plan.stages)
    if (stage.has_ring && !stage.ring.huge)
      table.add({format_size(stage.ring.expected_bytes), ring_line(plan, stage)});
  for (const PlanStage& stage : plan.stages)
    if (stage.is_cache() && cache_file(stage).empty())
      table.add({format_size(stage.cache.expected_bytes), cache_line(stage)});
  for (const PlanShared& shared : plan.shared)
    table.add({format_size(shared.bytes), shared_line(plan, shared)});
  table.add({format_size(control_bytes_estimate(plan)), "control segment, at most"});
  for (const PlanStage& stage : plan.stages)
    if (const std::uint64_t bytes = scratch_bytes(plan, stage); bytes != 0)
      table.add({format_size(bytes),
                 concat("private to ", stage.name, ", for batches with skipped samples")});
  std::string there;
  if (room.bytes != kNoLimit)
    there = concat(" of ", format_size(room.bytes), " (", room.limit, ")");
  const std::uint64_t worst = worst_bytes(plan);
  if (worst != plan.memory_bytes) there += concat(", at worst ", format_size(worst));
  table.add({format_size(plan.memory_bytes), concat("in all", there)});
  return table.text(kIndent);
}

/// No part of the sum either: nothing else gets them.
std::string huge_text(const Plan& plan, const MachineLimits& limits) {
  TextTable table({Align::right, Align::left});
  for (const PlanStage& stage : plan.stages)
    if (stage.ring.huge)
      table.add({format_size(stage.ring.bytes),
                 concat(edge_text(plan, stage), ": ", huge_pages_text(stage.ring.bytes))});
  const std::string text = table.text(kIndent);
  if (text.empty()) return "";
  return concat("\nreserved huge pages (", format_count(usable_huge_pages(limits)), " available)\n",
                text);
}

/// What workers are kept from exceeding; no part of the sum, as it is seldom taken.
std::string private_text(const Plan& plan) {
  TextTable table({Align::right, Align::left});
  bool any = false;
  for (const PlanStage& stage : plan.stages) {
    if (stage.private_bytes_max == 0) continue;
    any = true;
    table.add({format_size(stage.private_bytes_max),
               concat("for a sample in ", stage.replicas == 1 ? "" : "each process of ", stage.name,
                      " (RLIMIT_DATA follows), by ", stage.private_bytes_by)});
  }
  if (!any) return "";
  return concat("\nprivate memory, at most\n", table.text(kIndent));
}

/// "100 of 330: 230 omitted by `limit:`", "100 in 2 batches".
std::string samples_text(const std::vector<SourceAudit>& sources,
                         const std::vector<ConsumerEpoch>& consumers) {
  TextTable table({Align::left, Align::left});
  for (const SourceAudit& source : sources) {
    if (!source.gives && !source.mixed.empty()) table.add({source.name, source.mixed});
    if (!source.gives) continue;
    std::string given = format_count(*source.gives);
    if (source.drawn) given += source.mixed.empty() ? " by weight" : concat(": ", source.mixed);
    if (!source.skipped.empty())
      given += concat(source.drawn ? "" : concat(" of ", format_count(*found_by(source))),
                      source.mixed.empty() ? ": " : "; skipped: ", skipped_text(source));
    table.add({source.name, given});
  }
  for (const ConsumerEpoch& consumer : consumers) {
    if (!consumer.batches) continue;
    const auto same = [&](const ConsumerEpoch& other) { return other.stage == consumer.stage; };
    const bool alone = std::count_if(consumers.begin(), consumers.end(), same) == 1;
    table.add({alone ? consumer.stage : concat(consumer.stage, ", of ", consumer.port),
               concat(format_count(*consumer.samples), " in ",
                      counted(*consumer.batches, "batch", "es"))});
  }
  const std::string text = table.text(kIndent);
  return text.empty() ? "" : concat("\nsamples per epoch\n", text);
}

/// What a stage copies to its device, and how.
void add_copies(const Plan& plan, const PlanStage& stage, TextTable& table) {
  for (const ReadArray& one : arrays_to_pin(plan, stage)) {
    const PlanStage& source = plan.stages[one.source];
    if (stage.pin == Pin::no) continue;
    table.add({format_size(one.bytes),
               concat(source.ring.tensors[one.array].type.name, " of ", source.name,
                      ", pinned when ", stage.name,
                      stage.pin == Pin::yes ? " starts, or the run is rejected" : " starts")});
  }
  if (stage.pin == Pin::no) {
    table.add({"0 B", concat("pinned for ", stage.name, " (`pin: no`): copies are slower")});
    return;
  }
  for (const PlanQueue& queue : stage.queues)
    for (const PlanInput& input : queue.inputs)
      for (const PlanTensor& tensor : plan.stages[input.stage].ring.tensors)
        if (tensor.type.ragged())
          table.add({"-", concat(tensor.type.name, " of ", plan.stages[input.stage].name,
                                 ", which is ragged: through pinned buffers of 4 MiB")});
}

std::string devices_text(const Plan& plan, const MachineLimits& limits, const GpuReport& gpus) {
  TextTable table({Align::right, Align::left});
  bool any = false;
  for (const PlanStage& stage : plan.stages) {
    if (!stage.may_pin() || stage.device == "cpu") continue;
    any = true;
    add_copies(plan, stage, table);
  }
  if (!any) return "";
  const std::uint64_t limit = limits.locked_bytes_max;
  table.add({limit == kNoLimit ? "no limit" : format_size(limit),
             "of locked memory for a process (`ulimit -l`)"});
  for (std::size_t number = 0; number < gpus.gpus.size(); ++number)
    table.add({concat("cuda:", number), printable(gpu_text(gpus.gpus[number]))});
  if (gpus.driver_version > 0)
    table.add({"driver", concat("of CUDA ", cuda_version_text(gpus.driver_version))});
  if (!gpus.problem.empty()) table.add({"no GPU", printable(gpus.problem)});
  return concat("\ncopies to a device\n", table.text(kIndent));
}

/// What a program may do with the batches of its outputs.
std::string outputs_text(const Plan& plan) {
  TextTable table({Align::left, Align::left});
  bool any = false;
  for (const PlanStage& stage : plan.stages) {
    if (!stage.is_output()) continue;
    for (const PlanQueue& queue : stage.queues)
      for (const PlanInput& input : queue.inputs) {
        const PlanStage& writer = plan.stages[input.stage];
        any = true;
        table.add({stage.name,
                   writer.readers.size() == 1
                       ? concat("may write its batches of ", writer.name)
                       : concat("only reads its batches of ", writer.name,
                                ", which other stages also read: LibTorch tensors are copies")});
      }
  }
  if (!any) return "";
  return concat("\noutputs of the program\n", table.text(kIndent));
}

std::string epochs_table(const Plan& plan) {
  TextTable table({Align::left, Align::left});
  for (const PlanIndexSpace& index_space : plan.index_spaces) {
    std::vector<std::string> names;
    for (const StageNumber source : index_space.sources) names.push_back(plan.stages[source].name);
    table.add({concat(join(names, ", "),
                      index_space.fan_out == 1 ? "" : concat(" x ", index_space.fan_out)),
               concat("padded to a multiple of ", counted(index_space.multiple, "sample"))});
  }
  if (plan.shard.world == 1) return table.text(kIndent);
  return concat(table.text(kIndent), kIndent, "this is rank ", plan.shard.rank, " of ",
                plan.shard.world, ": all ranks read the same number of samples of each source\n");
}

}  // namespace

std::string processes_text(const Plan& plan) {
  int processes = 0;
  for (const PlanStage& stage : plan.stages)
    if (!stage.is_application()) processes += stage.replicas;
  return counted(processes, "process", "es");
}

std::string print_plan(const Plan& plan, const MachineLimits& limits, const MemoryRoom& room,
                       const std::vector<SourceAudit>& sources,
                       const std::vector<ConsumerEpoch>& consumers, const GpuReport& gpus) {
  std::string out = head(plan, limits);
  out +=
      concat("\nstages\n", stages_table(plan), "\ncores\n", cores_table(plan, limits), "\nslots\n");
  for (const PlanStage& stage : plan.stages)
    if (stage.has_ring) out += ring_text(plan, stage);
  out += samples_text(sources, consumers);
  out += concat("\nepochs\n", epochs_table(plan), "\nmemory\n", memory_table(plan, room),
                huge_text(plan, limits), private_text(plan), files_text(plan),
                devices_text(plan, limits, gpus), outputs_text(plan));
  if (!plan.warnings.empty()) out += "\n";
  for (const std::string& warning : plan.warnings)
    out += concat("warning: ", printable(warning), "\n");
  return out;
}

}  // namespace brigade
