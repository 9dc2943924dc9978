#include "pipeline/plan/task_queues.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include <brigade/text.h>
#include "base/arithmetic.h"

namespace brigade {
namespace {

PlanInput make_input(const ValidSource& source) {
  PlanInput input{source.stage, source.port, {}};
  for (const TensorType& tensor : source.tensors.tensors) input.tensors.push_back(tensor.name);
  return input;
}

bool has_queue_per_source(const ValidStage& stage) {
  return stage.join == Join::epochs || stage.join == Join::merge;
}

/// Whether it is a flat_map: then it is the source of an index space.
bool is_flat_map(const ValidStage& stage) {
  return stage.type->contract.numbering == Numbering::flat_map;
}

/// Disjoint sets of stages; a set is one index space.
class IndexSpaceSets {
 public:
  explicit IndexSpaceSets(std::size_t stages) : parent_(stages) {
    std::iota(parent_.begin(), parent_.end(), StageNumber{});
  }
  StageNumber find(StageNumber stage) {
    while (parent_[stage] != stage) stage = parent_[stage] = parent_[parent_[stage]];
    return stage;
  }
  void unite(StageNumber a, StageNumber b) {
    a = find(a);
    b = find(b);
    parent_[std::max(a, b)] = std::min(a, b);
  }

 private:
  ByStage<StageNumber> parent_;
};

/// The index spaces of a plan, by who numbers them and how many samples they have for each of
/// those.
class IndexSpaces {
 public:
  IndexSpaces(const ValidGraph& graph, Plan& plan, PlanProblems& problems)
      : graph_(graph), plan_(plan), problems_(problems), sets_(plan.stages.size()) {}

  void number() {
    for (const StageNumber s : plan_.stages.numbers()) {
      if (plan_.stages[s].queues.size() == 1)
        for (const PlanInput& input : plan_.stages[s].queues[0].inputs) sets_.unite(s, input.stage);
      set_fan_outs(s);
    }
    make_roots();
    for (const StageNumber s : plan_.stages.numbers()) {
      PlanStage& stage = plan_.stages[s];
      for (PlanQueue& queue : stage.queues) {
        const StageNumber member = queue.inputs.empty() ? s : queue.inputs[0].stage;
        queue.index_space = index_space_of(member, queue.inputs.empty() ? 1 : slots_[member]);
      }
      stage.ring_index_space =
          stage.has_ring ? index_space_of(s, slots_[s]) : stage.queues[0].index_space;
    }
    for (const StageNumber s : plan_.stages.numbers())
      if (plan_.stages[s].is_cache()) end_above_cache(s);
  }

 private:
  /// How many slots each ring has for each sample of the producers above.
  void set_fan_outs(StageNumber s) {
    const PlanStage& stage = plan_.stages[s];
    std::uint64_t above = 1;
    const std::vector<PlanInput>& inputs = stage.queues[0].inputs;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const std::uint64_t slots = slots_[inputs[i].stage];
      if (i == 0) above = slots;
      if (slots != above) return differ(s, 0, i);
    }
    slots_.push_back(multiply_saturating(above, stage.fan_out));
    if (slots_.back() <= kFanOutMax) return;
    problems_.push_back(
        problem_at(graph_.stages[s],
                   concat("this stage and its upstream stages output ", slots_.back(),
                          " samples for each input, expected at most ", kFanOutMax),
                   "output fewer samples for each input"));
    slots_.back() = 1;  // said once
  }

  void differ(StageNumber s, std::size_t first, std::size_t second) {
    const ValidStage& stage = graph_.stages[s];
    const auto has = [&](std::size_t i) {
      const std::uint64_t slots = slots_[stage.sources[i].stage];
      return concat(quote(stage.sources[i].port), " has ", slots,
                    slots == 1 ? " sample" : " samples");
    };
    problems_.push_back(
        problem_at(stage,
                   concat("join: zip pairs samples by their number, but where ", has(first), ", ",
                          has(second), ": they are numbered differently"),
                   "zip them upstream of the stage that outputs several samples for each input; a "
                   "stage passes through the tensors that its type does not use"));
    slots_.push_back(1);
  }

  void make_roots() {
    root_.assign(plan_.stages.size(), -1);
    for (const StageNumber s : plan_.stages.numbers()) {
      if (!graph_.stages[s].sources.empty() && !plan_.stages[s].has_output_queue()) continue;
      IndexSpaceNumber& index_space = root_[sets_.find(s)];
      if (index_space < 0) {
        index_space = plan_.index_spaces.next_number();
        plan_.index_spaces.push_back({});
      }
      plan_.index_spaces[index_space].sources.push_back(s);
    }
  }

  /// What is above a cache runs for one epoch.
  void end_above_cache(StageNumber s) {
    const PlanStage& stage = plan_.stages[s];
    end_after_one(root_index_space(plan_, stage.queues[1].index_space));
  }

  /// An index space, those derived from it, and those whose samples it renumbers.
  void end_after_one(IndexSpaceNumber root) {
    for (const IndexSpaceNumber d : plan_.index_spaces.numbers())
      if (root_index_space(plan_, d) == root) plan_.index_spaces[d].epochs_max = 1;
    for (const StageNumber source : plan_.index_spaces[root].sources) {
      const PlanStage& stage = plan_.stages[source];
      if (stage.flat_map_outputs == 0) continue;
      for (const QueueNumber queue : stage.queues.numbers(1))
        end_after_one(root_index_space(plan_, stage.queues[queue].index_space));
    }
  }

  IndexSpaceNumber index_space_of(StageNumber stage, std::uint64_t fan_out) {
    const IndexSpaceNumber root = root_[sets_.find(stage)];
    if (fan_out == 1) return root;
    for (const IndexSpaceNumber d : plan_.index_spaces.numbers())
      if (plan_.index_spaces[d].above == root && plan_.index_spaces[d].fan_out == fan_out) return d;
    const IndexSpaceNumber derived = plan_.index_spaces.next_number();
    plan_.index_spaces.push_back({plan_.index_spaces[root].sources, 1, root, fan_out});
    return derived;
  }

  const ValidGraph& graph_;
  Plan& plan_;
  PlanProblems& problems_;
  IndexSpaceSets sets_;
  ByStage<std::uint64_t> slots_;
  ByStage<IndexSpaceNumber> root_;  // of a stage that stands for its set
};

/// before[a][b]: some stage reads an epoch of index space a to its end before it touches b.
using EpochOrder = ByIndexSpace<ByIndexSpace<bool>>;

bool comes_before(const EpochOrder& before, IndexSpaceNumber from, IndexSpaceNumber to,
                  ByIndexSpace<bool>& seen) {
  if (from == to) return true;
  if (seen[from]) return false;
  seen[from] = true;
  for (const IndexSpaceNumber next : before.numbers())
    if (before[from][next] && comes_before(before, next, to, seen)) return true;
  return false;
}

PlanProblem shared_index_space(const ValidStage& stage, const ValidSource& first,
                               const ValidSource& second, const std::string& producer) {
  return problem_at(stage,
                    concat("join: epochs cannot read ", quote(first.port), " and then ",
                           quote(second.port), ": both come from ", quote(producer),
                           ", which cannot finish an epoch for one source while the other waits"),
                    "give each source its own producer, or use join: zip");
}

PlanProblem crossed_order(const ValidStage& stage, const ValidSource& first,
                          const ValidSource& second) {
  return problem_at(
      stage,
      concat(
          "join: epochs reads ", quote(first.port), " before ", quote(second.port),
          ", but other stages read their producers in the opposite order: both would wait forever"),
      "list the sources in the same order in every stage with join: epochs");
}

/// A cache gives nothing of its own epochs before it has read those above it to their end; and
/// nobody can read a part of the graph that has one epoch as if it had several.
void check_caches(const ValidGraph& graph, const EpochOrder& before, Plan& plan,
                  PlanProblems& problems) {
  for (const StageNumber s : plan.stages.numbers()) {
    const PlanStage& stage = plan.stages[s];
    if (stage.is_cache()) {
      ByIndexSpace<bool> seen(plan.index_spaces.size());
      if (comes_before(before, root_index_space(plan, stage.queues[0].index_space),
                       root_index_space(plan, stage.queues[1].index_space), seen))
        problems.push_back(problem_at(
            graph.stages[s], "its output is zipped with its own source, which has fewer epochs",
            "zip upstream of the cache; a stage passes through the tensors that its type does not "
            "use"));
    }
    for (const PlanQueue& queue : stage.queues) {
      if (queue.inputs.empty() || stage.is_cache() || plan.epochs == 1) continue;
      if (index_space_epochs(plan, queue.index_space) == plan.epochs) continue;
      const std::string reads = concat("it reads ", quote(queue.inputs[0].port),
                                       " upstream of a cache, which runs for one epoch");
      if (stage.flat_map_outputs != 0 &&
          index_space_epochs(plan, stage.ring_index_space) == plan.epochs)
        problems.push_back(problem_at(graph.stages[s], reads, "read the cache instead"));
      else if (stage.kind == StageKind::consumer)
        plan.warnings.push_back(concat("stage ", quote(stage.name), ": ", reads));
    }
  }
}

void check_epoch_order(const ValidGraph& graph, Plan& plan, PlanProblems& problems) {
  EpochOrder before(plan.index_spaces.size(), ByIndexSpace<bool>(plan.index_spaces.size()));
  for (const PlanStage& stage : plan.stages) {  // a cache is full when what is above it has ended
    if (!stage.is_cache()) continue;
    const IndexSpaceNumber above = root_index_space(plan, stage.queues[1].index_space);
    before[above][root_index_space(plan, stage.queues[0].index_space)] = true;
  }
  check_caches(graph, before, plan, problems);
  for (const StageNumber s : graph.stages.numbers()) {
    const ValidStage& stage = graph.stages[s];
    if (stage.join != Join::epochs || !has_queue_per_source(stage)) continue;
    const auto index_space = [&](std::size_t source) {
      const PlanStage& planned = plan.stages[s];
      return root_index_space(plan, planned.queues[queue_of_source(planned, source)].index_space);
    };
    for (std::size_t i = 1; i < stage.sources.size(); ++i) {
      const IndexSpaceNumber first = index_space(i - 1);
      const IndexSpaceNumber second = index_space(i);
      ByIndexSpace<bool> seen(plan.index_spaces.size());
      if (first == second) {
        const std::string& producer = graph.stages[plan.index_spaces[first].sources.front()].name;
        problems.push_back(
            shared_index_space(stage, stage.sources[i - 1], stage.sources[i], producer));
      } else if (comes_before(before, second, first, seen)) {
        problems.push_back(crossed_order(stage, stage.sources[i - 1], stage.sources[i]));
      } else {
        before[first][second] = true;
      }
    }
  }
}

}  // namespace

void make_task_queues(const ValidGraph& graph, Plan& plan) {
  for (const StageNumber s : graph.stages.numbers()) {
    const ValidStage& stage = graph.stages[s];
    if (stage.type->contract.numbering == Numbering::expand)
      plan.stages[s].fan_out = stage.outputs_per_input;
    if (is_flat_map(stage)) plan.stages[s].flat_map_outputs = stage.outputs_per_input;
    if (stage.type->contract.cache) plan.stages[s].cache.slots = 1;  // as many as are needed later
    plan.stages[s].has_ring = stage.kind != StageKind::consumer;
    ByQueue<PlanQueue>& queues = plan.stages[s].queues;
    const std::size_t reading = has_queue_per_source(stage) ? stage.sources.size() : 1;
    queues.assign(reading + (plan.stages[s].has_output_queue() ? 1 : 0), PlanQueue{});
    for (std::size_t i = 0; i < stage.sources.size(); ++i) {
      const QueueNumber queue = queue_of_source(plan.stages[s], i);
      queues[queue].inputs.push_back(make_input(stage.sources[i]));
      auto& readers = plan.stages[stage.sources[i].stage].readers;
      const std::pair<StageNumber, QueueNumber> reader{s, queue};
      if (std::find(readers.begin(), readers.end(), reader) == readers.end())
        readers.push_back(reader);
    }
  }
}

void number_index_spaces(const ValidGraph& graph, Plan& plan, PlanProblems& problems) {
  IndexSpaces(graph, plan, problems).number();
  check_epoch_order(graph, plan, problems);
}

}  // namespace brigade
