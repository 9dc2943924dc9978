#include "pipeline/plan/planner/task_sizes.h"

#include <algorithm>
#include <numeric>

#include <brigade/text.h>
#include "base/arithmetic.h"
#include "pipeline/plan/ring_layout.h"
#include "pipeline/plan/task_queues.h"

namespace brigade {
namespace {

/// Batches that a stage's output is read in.
struct Wanted {
  std::uint64_t multiple = 1;
  std::uint64_t largest = 0;  // 0: nobody below wants batches

  void add(std::uint64_t lcm_of, std::uint64_t size) {
    multiple = lcm_saturating(multiple, lcm_of);
    largest = std::max(largest, size);
  }
};

std::uint64_t queue_batch(const ValidGraph& graph, const ValidStage& stage, QueueNumber queue) {
  // A flat_map has a task queue more than sources; that it cannot take batches is told later.
  if (!stage.batched || stage.type->contract.numbering == Numbering::flat_map) return 0;
  return stage.sources.empty() ? stage.batch : edge_batch(graph, stage, index_of(queue));
}

/// What the user fixed for a task queue; 0: auto.
std::uint64_t fixed_size(const ValidGraph& graph, const ValidStage& stage, QueueNumber queue) {
  return stage.batched ? queue_batch(graph, stage, queue) : stage.chunk;
}

/// Under `assign: fixed` an epoch takes whole rounds of all replicas.
std::uint64_t round_of(const ValidStage& stage, std::uint64_t task) {
  return stage.fixed ? multiply_saturating(task, stage.replicas) : task;
}

void check_batch(const ValidGraph& graph, const ValidStage& stage, PlanProblems& problems) {
  if (!stage.batched) return;
  if (stage.sources.empty() && stage.batch == 0)
    problems.push_back(problem_at(stage, "it outputs batches, but has no batch:",
                                  concat("write batch: in stage ", quote(stage.name))));
  std::uint64_t zipped = 0;
  for (std::size_t i = 0; i < stage.sources.size(); ++i) {
    const std::string& writer = graph.stages[stage.sources[i].stage].name;
    const std::uint64_t batch = edge_batch(graph, stage, i);
    if (batch == 0)
      problems.push_back(problem_at(
          stage, concat("it takes batches, but the edge from ", quote(writer), " has no batch:"),
          concat("write batch: in stage ", quote(writer), ", or {stage: ", writer,
                 ", batch: N} in from:")));
    if (stage.join == Join::zip && zipped != 0 && batch != zipped)
      problems.push_back(problem_at(
          stage,
          concat("join: zip needs one batch for all sources, found ", zipped, " and ", batch),
          "give every source the same batch:, or only one of them"));
    zipped = batch;
  }
}

/// The fewest samples that make a multiple of so many slots, where each makes `fan_out`.
std::uint64_t samples_for(std::uint64_t slots, std::uint64_t fan_out) {
  return slots / std::gcd(slots, fan_out);
}

/// Takes and gives one sample after the other, and whatever it is read by wants nothing of what is
/// above it.
bool is_free(const PlanStage& stage) { return stage.flat_map_outputs > 0; }

ByStage<Wanted> wanted_batches(const ValidGraph& graph, const Plan& plan) {
  ByStage<Wanted> wanted(graph.stages.size());
  for (StageNumber s = graph.stages.next_number(); s-- > 0;) {
    for (const auto& [reader, queue] : plan.stages[s].readers) {
      const ValidStage& below = graph.stages[reader];
      const std::uint64_t batch = queue_batch(graph, below, queue);
      const std::uint64_t fan_out = plan.stages[s].fan_out;
      if (batch != 0) {
        wanted[s].add(samples_for(batch, fan_out), samples_for(batch, fan_out));
      } else if (!below.batched && wanted[reader].largest != 0 &&
                 !plan.stages[reader].has_output_queue()) {
        wanted[s].add(samples_for(wanted[reader].multiple, fan_out),
                      samples_for(wanted[reader].largest, fan_out));
      }
    }
  }
  return wanted;
}

/// The multiple that the user's own sizes force on each index space, grown towards the default task
/// where it is small and no batch is in it.
ByIndexSpace<Wanted> index_space_bases(const ValidGraph& graph, const Plan& plan) {
  ByIndexSpace<Wanted> bases(plan.index_spaces.size());
  for (const StageNumber s : graph.stages.numbers()) {
    for (const QueueNumber i : plan.stages[s].queues.numbers()) {
      if (is_free(plan.stages[s])) continue;
      const std::uint64_t size = fixed_size(graph, graph.stages[s], i);
      const std::uint64_t batch = queue_batch(graph, graph.stages[s], i);
      const IndexSpaceNumber index_space = plan.stages[s].queues[i].index_space;
      if (size != 0)
        bases[root_index_space(plan, index_space)].add(
            samples_for(size, plan.index_spaces[index_space].fan_out), batch);
    }
  }
  for (Wanted& base : bases)
    if (base.largest == 0 && base.multiple < kTaskSlotsDefault)
      base.multiple *= kTaskSlotsDefault / base.multiple;
  for (const IndexSpaceNumber d : bases.numbers()) {
    const PlanIndexSpace& index_space = plan.index_spaces[d];
    if (index_space.above < 0) continue;
    bases[d] = bases[index_space.above];
    bases[d].multiple = multiply_saturating(bases[d].multiple, index_space.fan_out);
  }
  return bases;
}

std::uint64_t auto_size(const ValidStage& stage, std::uint64_t fan_out, QueueNumber queue,
                        bool queue_per_source, const Wanted& wanted, const Wanted& base) {
  std::uint64_t bytes = multiply_saturating(slot_bytes_of(stage.outputs), fan_out);
  for (std::size_t i = 0; i < stage.sources.size(); ++i)
    if (!queue_per_source || i == index_of(queue))
      bytes = std::max(bytes, slot_bytes_of(stage.sources[i].tensors));
  const std::uint64_t fitting = std::max<std::uint64_t>(kTaskBytesMax / bytes, 1);
  if (wanted.largest != 0)
    return largest_divisor(wanted.multiple, std::min(fitting, wanted.largest));
  return largest_divisor(base.multiple, std::min(fitting, kTaskSlotsDefault));
}

/// A size that the user wrote, for messages.
struct GivenSize {
  const ValidStage* stage;
  std::uint64_t size;
  std::uint64_t round;    // of all its replicas under `assign: fixed`
  std::uint64_t samples;  // what an epoch of the source must be a multiple of for its sake
};

/// Of an index space and those derived from it.
std::vector<GivenSize> given_sizes(const ValidGraph& graph, const Plan& plan,
                                   IndexSpaceNumber root) {
  std::vector<GivenSize> sizes;
  for (const StageNumber s : graph.stages.numbers()) {
    for (const QueueNumber i : plan.stages[s].queues.numbers()) {
      if (is_free(plan.stages[s])) continue;
      const IndexSpaceNumber index_space = plan.stages[s].queues[i].index_space;
      const std::uint64_t size = fixed_size(graph, graph.stages[s], i);
      if (root_index_space(plan, index_space) != root || size == 0) continue;
      const std::uint64_t round = round_of(graph.stages[s], size);
      sizes.push_back({&graph.stages[s], size, round,
                       samples_for(round, plan.index_spaces[index_space].fan_out)});
    }
  }
  return sizes;
}

/// The two sizes whose common multiple is largest: those to name.
std::pair<GivenSize, GivenSize> worst_pair(const std::vector<GivenSize>& sizes) {
  std::pair<GivenSize, GivenSize> worst{sizes[0], sizes[0]};
  std::uint64_t multiple = 0;
  for (const GivenSize& a : sizes) {
    for (const GivenSize& b : sizes) {
      if (lcm_saturating(a.samples, b.samples) <= multiple) continue;
      multiple = lcm_saturating(a.samples, b.samples);
      worst = {a, b};
    }
  }
  return worst;
}

std::string size_text(const GivenSize& given) {
  return concat(given.stage->batched ? "batches of " : "chunk: ", given.size,
                given.round == given.size ? "" : concat(" for each of ", given.stage->replicas),
                " (stage ", quote(given.stage->name), ")");
}

std::string cure_text(const GivenSize& keep, const GivenSize& change) {
  return concat("write ",
                change.stage->batched ? "batch: " : "chunk: ", nearest_fit(change.size, keep.size),
                " for stage ", quote(change.stage->name));
}

void check_multiple(const ValidGraph& graph, IndexSpaceNumber index_space, Plan& plan,
                    PlanProblems& problems) {
  const std::vector<GivenSize> sizes = given_sizes(graph, plan, index_space);
  if (sizes.empty()) return;
  std::uint64_t largest = 0;
  for (const GivenSize& given : sizes) largest = std::max(largest, given.samples);
  const std::uint64_t multiple = plan.index_spaces[index_space].multiple;
  if (multiple <= 2 * std::max(largest, kTaskSlotsDefault)) return;

  const auto [first, second] = worst_pair(sizes);
  const std::string said = concat(size_text(first), " and ", size_text(second),
                                  " do not divide each other: an epoch is padded to a multiple of ",
                                  multiple, " samples");
  if (multiple <= kPlanMultipleMax) {
    plan.warnings.push_back(concat(said, "; ", cure_text(first, second), " to avoid that"));
    return;
  }
  problems.push_back(problem_at(*second.stage,
                                concat(said, ", expected at most ", kPlanMultipleMax),
                                cure_text(first, second)));
}

/// Sizes above the limit by themselves are said once, not as pairs.
bool check_largest(const ValidStage& stage, std::uint64_t size, PlanProblems& problems) {
  if (size <= kPlanMultipleMax) return true;
  problems.push_back(problem_at(stage,
                                concat(stage.batched ? "batch: " : "chunk: ", size,
                                       " is above the limit of ", kPlanMultipleMax, " samples"),
                                "write a smaller number"));
  return false;
}

}  // namespace

std::uint64_t edge_batch(const ValidGraph& graph, const ValidStage& stage, std::size_t i) {
  const auto own = [&](const ValidSource& source) {
    return source.batch != 0 ? source.batch : graph.stages[source.stage].batch;
  };
  std::uint64_t batch = own(stage.sources[i]);
  if (batch == 0 && stage.join == Join::zip)
    for (const ValidSource& source : stage.sources) batch = std::max(batch, own(source));
  return batch;
}

std::uint64_t slot_bytes_of(const Ports& tensors) {
  std::uint64_t bytes = kSlotHeaderBytes;
  for (const TensorType& tensor : tensors.tensors)
    bytes = add_saturating(bytes, tensor_bytes(tensor));
  return bytes;
}

std::uint64_t largest_divisor(std::uint64_t base, std::uint64_t most) {
  for (std::uint64_t divisor = std::min(base, most); divisor > 1; --divisor)
    if (base % divisor == 0) return divisor;
  return 1;
}

std::uint64_t nearest_fit(std::uint64_t size, std::uint64_t other) {
  if (size >= other) {
    const std::uint64_t below = size - size % other;
    return size - below <= other - size % other ? below : below + other;
  }
  for (std::uint64_t step = 0;; ++step) {
    if (size > step && other % (size - step) == 0) return size - step;
    if (other % (size + step) == 0) return size + step;
  }
}

void set_task_sizes(const ValidGraph& graph, Plan& plan, PlanProblems& problems) {
  const ByStage<Wanted> wanted = wanted_batches(graph, plan);
  const ByIndexSpace<Wanted> bases = index_space_bases(graph, plan);
  ByIndexSpace<bool> within(plan.index_spaces.size(), true);
  for (PlanIndexSpace& index_space : plan.index_spaces) index_space.multiple = 1;
  for (const StageNumber s : graph.stages.numbers()) {
    const ValidStage& stage = graph.stages[s];
    check_batch(graph, stage, problems);
    ByQueue<PlanQueue>& queues = plan.stages[s].queues;
    for (const QueueNumber i : queues.numbers()) {
      PlanQueue& queue = queues[i];
      // Of a cache task queue 0 is read by others, task queue 1 by nobody.
      const Wanted read_in = plan.stages[s].is_cache() && i > 0 ? Wanted{} : wanted[s];
      queue.task = is_free(plan.stages[s]) ? 1 : fixed_size(graph, stage, i);
      if (queue.task == 0)
        queue.task = auto_size(stage, plan.stages[s].fan_out, i, queues.size() > 1, read_in,
                               bases[queue.index_space]);
      const IndexSpaceNumber root = root_index_space(plan, queue.index_space);
      if (!check_largest(stage, queue.task, problems)) within[root] = false;
      std::uint64_t& multiple = plan.index_spaces[root].multiple;
      multiple = lcm_saturating(
          multiple,
          samples_for(round_of(stage, queue.task), plan.index_spaces[queue.index_space].fan_out));
    }
  }
  for (const IndexSpaceNumber d : plan.index_spaces.numbers()) {
    PlanIndexSpace& index_space = plan.index_spaces[d];
    if (index_space.above < 0) {
      if (within[d]) check_multiple(graph, d, plan, problems);
    } else {
      index_space.multiple =
          multiply_saturating(plan.index_spaces[index_space.above].multiple, index_space.fan_out);
    }
  }
}

}  // namespace brigade
