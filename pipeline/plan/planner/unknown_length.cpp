#include "pipeline/plan/planner/unknown_length.h"

#include <algorithm>
#include <optional>

#include <brigade/text.h>
#include "pipeline/plan/task_queues.h"

namespace brigade {
namespace {

bool is_stream(const PlanStage& stage) {
  return stage.kind == StageKind::producer && !stage.indexed;
}

bool is_flat_map(const PlanStage& stage) { return stage.flat_map_outputs > 0; }

class Check {
 public:
  Check(const ValidGraph& graph, Plan& plan, PlanProblems& problems)
      : graph_(graph), plan_(plan), problems_(problems) {}

  void run() {
    for (const StageNumber s : plan_.stages.numbers()) {
      PlanStage& stage = plan_.stages[s];
      if (is_flat_map(stage)) take_over_epochs(s);
      reader(s);
      zip(s);
      if (is_stream(stage) || is_flat_map(stage)) epochs(s);
      if (is_flat_map(stage)) flat_map_numbering(s);
      if (!is_stream(stage)) continue;
      stream(s);
      stage.max_wait_ns = shortest_wait(stage.queues.front().index_space);
    }
  }

 private:
  void problem(StageNumber stage, std::string message, std::string help) {
    problems_.push_back(problem_at(graph_.stages[stage], std::move(message), std::move(help)));
  }

  /// A flat_map stage has as many epochs as what it reads: above a cache that is one.
  void take_over_epochs(StageNumber s) {
    const ByQueue<PlanQueue>& queues = plan_.stages[s].queues;
    const std::uint64_t epochs = index_space_epochs(plan_, queues[1].index_space);
    for (const IndexSpaceNumber d : plan_.index_spaces.numbers()) {
      std::uint64_t& most = plan_.index_spaces[d].epochs_max;
      if (root_index_space(plan_, d) == queues[0].index_space) most = std::min(most, epochs);
    }
    for (const QueueNumber queue : queues.numbers(2)) {
      const std::uint64_t other = index_space_epochs(plan_, queues[queue].index_space);
      if (other == epochs) continue;
      problem(s,
              concat("join: merge combines the same epochs of its sources, but ",
                     quote(queues[1].inputs.front().port), " has ", epochs, " and ",
                     quote(queues[queue].inputs.front().port), " has ", other),
              "stages upstream of a cache run for one epoch: read the cache instead");
      return;
    }
  }

  void epochs(StageNumber s) {
    if (plan_.epochs <= kRecordedEpochsMax) return;
    problem(s,
            concat("epochs: ", plan_.epochs, " is above the limit of ", kRecordedEpochsMax,
                   " for a stage whose epochs have no known length"),
            "write a smaller number");
  }

  void stream(StageNumber s) {
    if (graph_.stages[s].replicas > 1 && plan_.epochs > 1)
      problem(s,
              concat("a stream with several replicas has one epoch, found epochs: ", plan_.epochs,
                     ": each replica ends on its own, without knowing when the others end"),
              "write `epochs: 1`, or omit `replicas:` and share the work one stage downstream");
    const IndexSpaceNumber index_space = plan_.stages[s].queues.front().index_space;
    if (plan_.index_spaces[index_space].sources.size() > 1)
      problem(s, "a stream cannot be zipped with another source: their sizes may differ",
              "use join: merge, which takes samples as they arrive");
    if (plan_.shard.world > 1 && !plan_.stages[s].is_input())
      plan_.warnings.push_back(concat("stage ", quote(plan_.stages[s].name),
                                      " is a stream, which cannot be divided: each of the ",
                                      plan_.shard.world, " ranks reads all of it"));
  }

  void flat_map_numbering(StageNumber s) {
    const ValidStage& stage = graph_.stages[s];
    const std::string type = quote(stage.type->contract.type);
    if (stage.replicas > 1)
      problem(s,
              concat(type, " numbers its outputs in order of arrival: expected one replica, found ",
                     stage.replicas),
              "omit `replicas:`; share the work in a stage upstream or downstream");
    if (stage.batched)
      problem(s, concat(type, " is a flat_map and must take samples, not batches"),
              "write takes(Takes::samples) in its contract");
    if (stage.chunk > 0)
      problem(s, concat(type, " processes one sample at a time: `chunk:` has no effect"),
              "omit it");
  }

  /// The producer, or the flat_map, that numbers the slots of a stage's ring.
  StageNumber numbered_by(StageNumber stage) const {
    for (;;) {
      const auto& inputs = plan_.stages[stage].queues.front().inputs;
      if (inputs.empty()) return stage;
      stage = inputs.front().stage;
    }
  }

  void zip(StageNumber s) {
    if (graph_.stages[s].join != Join::zip) return;
    const std::vector<PlanInput>& inputs = plan_.stages[s].queues.back().inputs;
    const auto renumbered = std::find_if(inputs.begin(), inputs.end(), [&](const PlanInput& input) {
      return is_flat_map(plan_.stages[numbered_by(input.stage)]);
    });
    if (renumbered == inputs.end()) return;
    const StageNumber by = numbered_by(renumbered->stage);
    const bool same = std::all_of(inputs.begin(), inputs.end(), [&](const PlanInput& input) {
      return numbered_by(input.stage) == by;
    });
    if (same) return;
    const std::string stage = quote(plan_.stages[by].name);
    problem(s,
            concat("join: zip pairs samples by their number, but stage ", stage,
                   " renumbers the samples of ", quote(renumbered->port)),
            concat("zip them upstream of ", stage,
                   "; a stage passes through the tensors that its type does not use"));
  }

  bool has_unknown_length(IndexSpaceNumber index_space) const {
    const IndexSpaceNumber root = root_index_space(plan_, index_space);
    const auto& sources = plan_.index_spaces[root].sources;
    return std::any_of(sources.begin(), sources.end(),
                       [&](StageNumber source) { return !plan_.stages[source].indexed; });
  }

  bool below_a_stream(IndexSpaceNumber index_space) const {
    return std::any_of(plan_.stages.begin(), plan_.stages.end(), [&](const PlanStage& stage) {
      return is_stream(stage) && comes_from(plan_, index_space, stage.queues.front().index_space);
    });
  }

  void reader(StageNumber s) {
    const ValidStage& stage = graph_.stages[s];
    for (std::size_t i = 0; i < stage.sources.size(); ++i) {
      const PlanQueue& queue = plan_.stages[s].queues[queue_of_source(plan_.stages[s], i)];
      const bool stream = below_a_stream(queue.index_space);
      const std::string port = quote(stage.sources[i].port);
      if (stage.sources[i].max_wait_ns && !stream)
        problem(s,
                concat("max_wait of ", port,
                       " has no effect: no upstream stage is a stream, so every batch is full"),
                "omit it");
      if (!stream && stage.drop_last && stage.fixed && stage.replicas != 1 &&
          has_unknown_length(queue.index_space))
        problem(s,
                concat("drop_last and assign: fixed drop the last round of an epoch, but the last "
                       "round of ",
                       port, " is unknown until the epoch ends"),
                "omit one of the two");
      if (stream && stage.drop_last)
        problem(s, "drop_last downstream of a stream would drop every batch that is closed early",
                "omit `drop_last:`");
    }
  }

  /// Of all edges below the stream.
  std::int64_t shortest_wait(IndexSpaceNumber index_space) const {
    std::optional<std::int64_t> shortest;
    for (const StageNumber s : graph_.stages.numbers()) {
      const auto& sources = graph_.stages[s].sources;
      for (std::size_t i = 0; i < sources.size(); ++i) {
        const PlanQueue& queue = plan_.stages[s].queues[queue_of_source(plan_.stages[s], i)];
        if (!sources[i].max_wait_ns || !comes_from(plan_, queue.index_space, index_space)) continue;
        shortest = std::min(shortest.value_or(*sources[i].max_wait_ns), *sources[i].max_wait_ns);
      }
    }
    return shortest.value_or(SourceKeys().max_wait_ns);
  }

  const ValidGraph& graph_;
  Plan& plan_;
  PlanProblems& problems_;
};

}  // namespace

bool comes_from(const Plan& plan, IndexSpaceNumber index_space, IndexSpaceNumber above) {
  const IndexSpaceNumber root = root_index_space(plan, index_space);
  if (root == above) return true;
  const auto& sources = plan.index_spaces[root].sources;
  return std::any_of(sources.begin(), sources.end(), [&](StageNumber source) {
    const auto& queues = plan.stages[source].queues;
    return std::any_of(queues.begin(), queues.end(), [&](const PlanQueue& queue) {
      return !queue.inputs.empty() && comes_from(plan, queue.index_space, above);
    });
  });
}

void check_unknown_lengths(const ValidGraph& graph, Plan& plan, PlanProblems& problems) {
  Check(graph, plan, problems).run();
}

}  // namespace brigade
