#include "pipeline/plan/lanes.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "base/text.h"

namespace brigade {
namespace {

PlanInput make_input(const ValidSource& source) {
  PlanInput input{source.stage, source.port, {}};
  for (const TensorType& tensor : source.tensors.tensors) input.tensors.push_back(tensor.name);
  return input;
}

bool has_lane_per_source(const ValidStage& stage) {
  if (stage.kind != StageKind::consumer) return false;
  return stage.join == Join::epochs || stage.join == Join::merge;
}

/// Disjoint sets of stages; a set is one domain.
class DomainSets {
 public:
  explicit DomainSets(std::size_t stages) : parent_(stages) {
    std::iota(parent_.begin(), parent_.end(), 0);
  }
  int find(int stage) {
    while (parent_[stage] != stage) stage = parent_[stage] = parent_[parent_[stage]];
    return stage;
  }
  void unite(int a, int b) {
    a = find(a);
    b = find(b);
    parent_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::vector<int> parent_;
};

/// before[a][b]: some stage reads an epoch of domain a to its end before it touches b.
using EpochOrder = std::vector<std::vector<bool>>;

bool comes_before(const EpochOrder& before, int from, int to, std::vector<bool>& seen) {
  if (from == to) return true;
  if (seen[from]) return false;
  seen[from] = true;
  for (int next = 0; next < static_cast<int>(before.size()); ++next)
    if (before[from][next] && comes_before(before, next, to, seen)) return true;
  return false;
}

PlanProblem shared_domain(const ValidStage& stage, const ValidSource& first,
                          const ValidSource& second, const std::string& producer) {
  return problem_at(stage,
                    concat("join: epochs cannot read ", quote(first.port), " and then ",
                           quote(second.port), ": both come from ", quote(producer),
                           ", which cannot finish an epoch for one while the other waits"),
                    "give each source a producer of its own, or use join: zip");
}

PlanProblem crossed_order(const ValidStage& stage, const ValidSource& first,
                          const ValidSource& second) {
  return problem_at(stage,
                    concat("join: epochs reads ", quote(first.port), " before ", quote(second.port),
                           ", but other stages read their producers the other way round: each "
                           "would wait for the other for ever"),
                    "write the sources in one order in every stage that has join: epochs");
}

void check_epoch_order(const ValidGraph& graph, const Plan& plan, PlanProblems& problems) {
  EpochOrder before(plan.domains.size(), std::vector<bool>(plan.domains.size()));
  for (std::size_t s = 0; s < graph.stages.size(); ++s) {
    const ValidStage& stage = graph.stages[s];
    if (stage.join != Join::epochs || !has_lane_per_source(stage)) continue;
    for (std::size_t i = 1; i < stage.sources.size(); ++i) {
      const int first = plan.stages[s].lanes[i - 1].domain;
      const int second = plan.stages[s].lanes[i].domain;
      std::vector<bool> seen(plan.domains.size());
      if (first == second) {
        const std::string& producer = graph.stages[plan.domains[first].sources.front()].name;
        problems.push_back(shared_domain(stage, stage.sources[i - 1], stage.sources[i], producer));
      } else if (comes_before(before, second, first, seen)) {
        problems.push_back(crossed_order(stage, stage.sources[i - 1], stage.sources[i]));
      } else {
        before[first][second] = true;
      }
    }
  }
}

}  // namespace

void make_lanes(const ValidGraph& graph, Plan& plan) {
  for (std::size_t s = 0; s < graph.stages.size(); ++s) {
    const ValidStage& stage = graph.stages[s];
    std::vector<PlanLane>& lanes = plan.stages[s].lanes;
    lanes.assign(has_lane_per_source(stage) ? stage.sources.size() : 1, PlanLane{});
    for (std::size_t i = 0; i < stage.sources.size(); ++i) {
      const std::size_t lane = has_lane_per_source(stage) ? i : 0;
      lanes[lane].inputs.push_back(make_input(stage.sources[i]));
      auto& readers = plan.stages[stage.sources[i].stage].readers;
      const std::pair<int, int> reader{static_cast<int>(s), static_cast<int>(lane)};
      if (std::find(readers.begin(), readers.end(), reader) == readers.end())
        readers.push_back(reader);
    }
  }
}

void number_domains(const ValidGraph& graph, Plan& plan, PlanProblems& problems) {
  DomainSets numbering(plan.stages.size());
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    if (plan.stages[s].lanes.size() != 1) continue;
    for (const PlanInput& input : plan.stages[s].lanes[0].inputs)
      numbering.unite(static_cast<int>(s), input.stage);
  }

  std::vector<int> domain_of_root(plan.stages.size(), -1);
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    if (!graph.stages[s].sources.empty()) continue;
    int& domain = domain_of_root[numbering.find(static_cast<int>(s))];
    if (domain < 0) {
      domain = static_cast<int>(plan.domains.size());
      plan.domains.push_back({});
    }
    plan.domains[domain].sources.push_back(static_cast<int>(s));
  }
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    for (PlanLane& lane : plan.stages[s].lanes) {
      const int member = lane.inputs.empty() ? static_cast<int>(s) : lane.inputs[0].stage;
      lane.domain = domain_of_root[numbering.find(member)];
    }
  }
  check_epoch_order(graph, plan, problems);
}

namespace {

constexpr std::int64_t kMaxWaitNs = 5'000'000;

bool is_stream(const PlanStage& stage) {
  return stage.kind == StageKind::producer && !stage.indexed;
}

void check_stream(const ValidStage& stage, const Plan& plan, const PlanDomain& domain,
                  PlanProblems& problems) {
  const auto problem = [&](std::string message, std::string help) {
    problems.push_back(problem_at(stage, std::move(message), std::move(help)));
  };
  if (stage.replicas != 1)
    problem("a stream has one replica", "take `replicas:` away; share its work one stage below");
  if (plan.epochs != 1)
    problem(concat("a stream has one epoch, found epochs: ", plan.epochs),
            "it ends by itself; write `epochs: 1`");
  if (domain.sources.size() > 1)
    problem("a stream cannot be zipped with another source: nobody knows whether their sizes agree",
            "join: merge takes whichever is there");
}

/// Of all edges below the stream.
std::int64_t shortest_wait(const ValidGraph& graph, const Plan& plan, int domain) {
  std::optional<std::int64_t> shortest;
  for (std::size_t s = 0; s < graph.stages.size(); ++s) {
    const auto& sources = graph.stages[s].sources;
    for (std::size_t i = 0; i < sources.size(); ++i) {
      const std::size_t lane = plan.stages[s].lanes.size() > 1 ? i : 0;
      if (plan.stages[s].lanes[lane].domain != domain || !sources[i].max_wait_ns) continue;
      shortest = std::min(shortest.value_or(*sources[i].max_wait_ns), *sources[i].max_wait_ns);
    }
  }
  return shortest.value_or(kMaxWaitNs);
}

bool below_a_stream(const Plan& plan, int domain) {
  const auto& sources = plan.domains[static_cast<std::size_t>(domain)].sources;
  return std::any_of(sources.begin(), sources.end(),
                     [&](int source) { return is_stream(plan.stages[source]); });
}

void check_reader(const ValidStage& stage, const PlanStage& planned, const Plan& plan,
                  PlanProblems& problems) {
  for (std::size_t i = 0; i < stage.sources.size(); ++i) {
    const std::size_t lane = planned.lanes.size() > 1 ? i : 0;
    const bool stream = below_a_stream(plan, planned.lanes[lane].domain);
    const std::string port = quote(stage.sources[i].port);
    if (stage.sources[i].max_wait_ns && !stream)
      problems.push_back(problem_at(
          stage, concat("max_wait of ", port, ": there is no stream above, every batch gets full"),
          "take it away"));
    if (stream && stage.join == Join::epochs)
      problems.push_back(problem_at(
          stage, concat("join: epochs cannot read ", port, ": a stream has no size to count to"),
          "join: merge takes whichever is there"));
    if (stream && stage.drop_last)
      problems.push_back(
          problem_at(stage, "drop_last below a stream would drop every batch that is closed early",
                     "take `drop_last:` away"));
  }
}

}  // namespace

void check_streams(const ValidGraph& graph, Plan& plan, PlanProblems& problems) {
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    check_reader(graph.stages[s], plan.stages[s], plan, problems);
    if (!is_stream(plan.stages[s])) continue;
    const int domain = plan.stages[s].lanes.front().domain;
    check_stream(graph.stages[s], plan, plan.domains[static_cast<std::size_t>(domain)], problems);
    plan.stages[s].max_wait_ns = shortest_wait(graph, plan, domain);
  }
}

}  // namespace brigade
