#include "pipeline/plan/unknown_length.h"

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "pipeline/plan/lanes.h"

namespace brigade {
namespace {

constexpr std::int64_t kMaxWaitNs = 5'000'000;

bool is_stream(const PlanStage& stage) {
  return stage.kind == StageKind::producer && !stage.indexed;
}

bool is_free(const PlanStage& stage) { return stage.free_outputs > 0; }

class Check {
 public:
  Check(const ValidGraph& graph, Plan& plan, PlanProblems& problems)
      : graph_(graph), plan_(plan), problems_(problems) {}

  void run() {
    for (std::size_t s = 0; s < plan_.stages.size(); ++s) {
      PlanStage& stage = plan_.stages[s];
      if (is_free(stage)) take_over_epochs(s);
      reader(s);
      zip(s);
      if (is_stream(stage) || is_free(stage)) epochs(s);
      if (is_free(stage)) free_numbering(s);
      if (!is_stream(stage)) continue;
      stream(s);
      stage.max_wait_ns = shortest_wait(stage.lanes.front().domain);
    }
  }

 private:
  void problem(std::size_t stage, std::string message, std::string help) {
    problems_.push_back(problem_at(graph_.stages[stage], std::move(message), std::move(help)));
  }

  /// A stage of free numbering has as many epochs as what it reads: above a cache that is one.
  void take_over_epochs(std::size_t s) {
    const std::vector<PlanLane>& lanes = plan_.stages[s].lanes;
    const std::uint64_t epochs = domain_epochs(plan_, lanes[1].domain);
    for (std::size_t d = 0; d < plan_.domains.size(); ++d) {
      std::uint64_t& most = plan_.domains[d].epochs_max;
      if (root_domain(plan_, static_cast<int>(d)) == lanes[0].domain) most = std::min(most, epochs);
    }
    for (std::size_t lane = 2; lane < lanes.size(); ++lane) {
      const std::uint64_t other = domain_epochs(plan_, lanes[lane].domain);
      if (other == epochs) continue;
      problem(s,
              concat("join: merge puts the same epochs of its sources together, but ",
                     quote(lanes[1].inputs.front().port), " has ", epochs, " and ",
                     quote(lanes[lane].inputs.front().port), " has ", other),
              "what is above a cache has one epoch: read the cache instead");
      return;
    }
  }

  void epochs(std::size_t s) {
    if (plan_.epochs <= kRecordedEpochsMax) return;
    problem(s,
            concat("epochs: ", plan_.epochs, " is above the limit of ", kRecordedEpochsMax,
                   " for a stage whose epochs end where its data do"),
            "write a smaller number");
  }

  void stream(std::size_t s) {
    if (graph_.stages[s].replicas > 1 && plan_.epochs > 1)
      problem(s,
              concat("a stream with several replicas has one epoch, found epochs: ", plan_.epochs,
                     ": each replica comes to an end of its own, and none knows of the others'"),
              "write `epochs: 1`, or take `replicas:` away and share its work one stage below");
    const auto domain = static_cast<std::size_t>(plan_.stages[s].lanes.front().domain);
    if (plan_.domains[domain].sources.size() > 1)
      problem(s,
              "a stream cannot be zipped with another source: nobody knows whether their sizes "
              "agree",
              "join: merge takes whichever is there");
    if (plan_.shard.world > 1)
      plan_.warnings.push_back(concat("stage ", quote(plan_.stages[s].name),
                                      " is a stream, which cannot be divided: each of the ",
                                      plan_.shard.world, " ranks reads all of it"));
  }

  void free_numbering(std::size_t s) {
    const ValidStage& stage = graph_.stages[s];
    const std::string type = quote(stage.type->contract.type);
    if (stage.replicas > 1)
      problem(s,
              concat(type,
                     " numbers its outputs in the order in which they come: it has one "
                     "replica, found ",
                     stage.replicas),
              "take `replicas:` away; share the work in a stage above or below it");
    if (stage.batched)
      problem(s, concat(type, " numbers its outputs freely and must take samples, not batches"),
              "write takes(Takes::samples) in its contract");
    if (stage.rows > 0)
      problem(s, concat(type, " works on one sample after the other: `rows:` has no effect"),
              "take it away");
  }

  /// The producer, or the stage of free numbering, that numbers the rows of a stage's pool.
  int numbered_by(int stage) const {
    for (;;) {
      const auto& inputs = plan_.stages[static_cast<std::size_t>(stage)].lanes.front().inputs;
      if (inputs.empty()) return stage;
      stage = inputs.front().stage;
    }
  }

  void zip(std::size_t s) {
    if (graph_.stages[s].join != Join::zip) return;
    const std::vector<PlanInput>& inputs = plan_.stages[s].lanes.back().inputs;
    const auto anew = std::find_if(inputs.begin(), inputs.end(), [&](const PlanInput& input) {
      return is_free(plan_.stages[static_cast<std::size_t>(numbered_by(input.stage))]);
    });
    if (anew == inputs.end()) return;
    const int by = numbered_by(anew->stage);
    const bool same = std::all_of(inputs.begin(), inputs.end(), [&](const PlanInput& input) {
      return numbered_by(input.stage) == by;
    });
    if (same) return;
    const std::string stage = quote(plan_.stages[static_cast<std::size_t>(by)].name);
    problem(s,
            concat("join: zip puts samples of the same number side by side, but stage ", stage,
                   " numbers those of ", quote(anew->port), " anew"),
            concat("zip them above ", stage,
                   "; tensors that a type does not name travel on through it"));
  }

  bool has_unknown_length(int domain) const {
    const auto root = static_cast<std::size_t>(root_domain(plan_, domain));
    const auto& sources = plan_.domains[root].sources;
    return std::any_of(sources.begin(), sources.end(), [&](int source) {
      return !plan_.stages[static_cast<std::size_t>(source)].indexed;
    });
  }

  bool below_a_stream(int domain) const {
    return std::any_of(plan_.stages.begin(), plan_.stages.end(), [&](const PlanStage& stage) {
      return is_stream(stage) && comes_from(plan_, domain, stage.lanes.front().domain);
    });
  }

  void reader(std::size_t s) {
    const ValidStage& stage = graph_.stages[s];
    for (std::size_t i = 0; i < stage.sources.size(); ++i) {
      const PlanLane& lane = plan_.stages[s].lanes[lane_of_source(plan_.stages[s], i)];
      const bool stream = below_a_stream(lane.domain);
      const std::string port = quote(stage.sources[i].port);
      if (stage.sources[i].max_wait_ns && !stream)
        problem(s,
                concat("max_wait of ", port, ": there is no stream above, every batch gets full"),
                "take it away");
      if (!stream && stage.drop_last && stage.fixed && stage.replicas != 1 &&
          has_unknown_length(lane.domain))
        problem(s,
                concat("drop_last and assign: fixed leave out the last round of an epoch, but of ",
                       port, " nobody knows which round that is before it is over"),
                "take one of the two away");
      if (stream && stage.drop_last)
        problem(s, "drop_last below a stream would drop every batch that is closed early",
                "take `drop_last:` away");
    }
  }

  /// Of all edges below the stream.
  std::int64_t shortest_wait(int domain) const {
    std::optional<std::int64_t> shortest;
    for (std::size_t s = 0; s < graph_.stages.size(); ++s) {
      const auto& sources = graph_.stages[s].sources;
      for (std::size_t i = 0; i < sources.size(); ++i) {
        const PlanLane& lane = plan_.stages[s].lanes[lane_of_source(plan_.stages[s], i)];
        if (!sources[i].max_wait_ns || !comes_from(plan_, lane.domain, domain)) continue;
        shortest = std::min(shortest.value_or(*sources[i].max_wait_ns), *sources[i].max_wait_ns);
      }
    }
    return shortest.value_or(kMaxWaitNs);
  }

  const ValidGraph& graph_;
  Plan& plan_;
  PlanProblems& problems_;
};

}  // namespace

bool comes_from(const Plan& plan, int domain, int above) {
  const int root = root_domain(plan, domain);
  if (root == above) return true;
  const auto& sources = plan.domains[static_cast<std::size_t>(root)].sources;
  return std::any_of(sources.begin(), sources.end(), [&](int source) {
    const auto& lanes = plan.stages[static_cast<std::size_t>(source)].lanes;
    return std::any_of(lanes.begin(), lanes.end(), [&](const PlanLane& lane) {
      return !lane.inputs.empty() && comes_from(plan, lane.domain, above);
    });
  });
}

void check_unknown_lengths(const ValidGraph& graph, Plan& plan, PlanProblems& problems) {
  Check(graph, plan, problems).run();
}

}  // namespace brigade
