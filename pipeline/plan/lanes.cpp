#include "pipeline/plan/lanes.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "base/text.h"
#include "pipeline/plan/arithmetic.h"

namespace brigade {
namespace {

PlanInput make_input(const ValidSource& source) {
  PlanInput input{source.stage, source.port, {}};
  for (const TensorType& tensor : source.tensors.tensors) input.tensors.push_back(tensor.name);
  return input;
}

bool has_lane_per_source(const ValidStage& stage) {
  return stage.join == Join::epochs || stage.join == Join::merge;
}

/// Whether it numbers its outputs freely: then it is the source of a domain.
bool is_free(const ValidStage& stage) { return stage.type->contract.numbering == Numbering::free; }

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

/// The domains of a plan, by who numbers them and how many samples they have for each of those.
class Domains {
 public:
  Domains(const ValidGraph& graph, Plan& plan, PlanProblems& problems)
      : graph_(graph), plan_(plan), problems_(problems), sets_(plan.stages.size()) {}

  void number() {
    for (std::size_t s = 0; s < plan_.stages.size(); ++s) {
      const int stage = static_cast<int>(s);
      if (plan_.stages[s].lanes.size() == 1)
        for (const PlanInput& input : plan_.stages[s].lanes[0].inputs)
          sets_.unite(stage, input.stage);
      set_fan_outs(s);
    }
    make_roots();
    for (std::size_t s = 0; s < plan_.stages.size(); ++s) {
      PlanStage& stage = plan_.stages[s];
      for (PlanLane& lane : stage.lanes) {
        const int member = lane.inputs.empty() ? static_cast<int>(s) : lane.inputs[0].stage;
        lane.domain = domain_of(member, lane.inputs.empty() ? 1 : rows_[member]);
      }
      stage.pool_domain =
          stage.has_pool ? domain_of(static_cast<int>(s), rows_[s]) : stage.lanes[0].domain;
    }
    for (std::size_t s = 0; s < plan_.stages.size(); ++s)
      if (plan_.stages[s].is_cache()) end_above_cache(s);
  }

 private:
  /// How many rows each pool has for each sample of the producers above.
  void set_fan_outs(std::size_t s) {
    const PlanStage& stage = plan_.stages[s];
    std::uint64_t above = 1;
    const std::vector<PlanInput>& inputs = stage.lanes[0].inputs;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const std::uint64_t rows = rows_[inputs[i].stage];
      if (i == 0) above = rows;
      if (rows != above) return differ(s, 0, i);
    }
    rows_.push_back(multiply_saturating(above, stage.fan_out));
    if (rows_.back() <= kFanOutMax) return;
    problems_.push_back(
        problem_at(graph_.stages[s],
                   concat("it and the stages above make ", rows_.back(),
                          " samples of each, at most ", kFanOutMax, " are possible"),
                   "make fewer of each"));
    rows_.back() = 1;  // said once
  }

  void differ(std::size_t s, std::size_t first, std::size_t second) {
    const ValidStage& stage = graph_.stages[s];
    const auto has = [&](std::size_t i) {
      const std::uint64_t rows = rows_[stage.sources[i].stage];
      return concat(quote(stage.sources[i].port), " has ", rows,
                    rows == 1 ? " sample" : " samples");
    };
    problems_.push_back(problem_at(
        stage,
        concat("join: zip puts samples of the same number side by side, but where ", has(first),
               ", ", has(second), ": they are numbered differently"),
        "zip them above the stage that makes several samples of each; tensors that a type does "
        "not name travel on through it"));
    rows_.push_back(1);
  }

  void make_roots() {
    root_.assign(plan_.stages.size(), -1);
    for (std::size_t s = 0; s < plan_.stages.size(); ++s) {
      if (!graph_.stages[s].sources.empty() && !plan_.stages[s].has_output_lane()) continue;
      int& domain = root_[sets_.find(static_cast<int>(s))];
      if (domain < 0) {
        domain = static_cast<int>(plan_.domains.size());
        plan_.domains.push_back({});
      }
      plan_.domains[domain].sources.push_back(static_cast<int>(s));
    }
  }

  /// What is above a cache runs for one epoch.
  void end_above_cache(std::size_t s) {
    const PlanStage& stage = plan_.stages[s];
    const int root = root_domain(plan_, stage.lanes[1].domain);
    end_after_one(root);
  }

  /// A domain, those derived from it, and those whose samples it numbers anew.
  void end_after_one(int root) {
    for (std::size_t d = 0; d < plan_.domains.size(); ++d)
      if (root_domain(plan_, static_cast<int>(d)) == root) plan_.domains[d].epochs_max = 1;
    for (const int source : plan_.domains[static_cast<std::size_t>(root)].sources) {
      const PlanStage& stage = plan_.stages[static_cast<std::size_t>(source)];
      for (std::size_t lane = 1; stage.free_outputs > 0 && lane < stage.lanes.size(); ++lane)
        end_after_one(root_domain(plan_, stage.lanes[lane].domain));
    }
  }

  int domain_of(int stage, std::uint64_t fan_out) {
    const int root = root_[sets_.find(stage)];
    if (fan_out == 1) return root;
    for (std::size_t d = 0; d < plan_.domains.size(); ++d)
      if (plan_.domains[d].above == root && plan_.domains[d].fan_out == fan_out)
        return static_cast<int>(d);
    plan_.domains.push_back({plan_.domains[root].sources, 1, root, fan_out});
    return static_cast<int>(plan_.domains.size()) - 1;
  }

  const ValidGraph& graph_;
  Plan& plan_;
  PlanProblems& problems_;
  DomainSets sets_;
  std::vector<std::uint64_t> rows_;  // by stage
  std::vector<int> root_;            // by stage that stands for its set
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

/// A cache gives nothing of its own epochs before it has read those above it to their end; and
/// nobody can read a part of the graph that has one epoch as if it had several.
void check_caches(const ValidGraph& graph, const EpochOrder& before, Plan& plan,
                  PlanProblems& problems) {
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    const PlanStage& stage = plan.stages[s];
    if (stage.is_cache()) {
      std::vector<bool> seen(plan.domains.size());
      if (comes_before(before, root_domain(plan, stage.lanes[0].domain),
                       root_domain(plan, stage.lanes[1].domain), seen))
        problems.push_back(problem_at(
            graph.stages[s], "what it gives is zipped with what it is made of, and has more epochs",
            "zip above the cache; tensors that a type does not name travel on through it"));
    }
    for (const PlanLane& lane : stage.lanes) {
      if (lane.inputs.empty() || stage.is_cache() || plan.epochs == 1) continue;
      if (domain_epochs(plan, lane.domain) == plan.epochs) continue;
      const std::string reads = concat("it reads ", quote(lane.inputs[0].port),
                                       " above a cache, where there is one epoch");
      if (stage.free_outputs != 0 && domain_epochs(plan, stage.pool_domain) == plan.epochs)
        problems.push_back(problem_at(graph.stages[s], reads, "read what the cache gives"));
      else if (stage.kind == StageKind::consumer)
        plan.warnings.push_back(concat("stage ", quote(stage.name), ": ", reads));
    }
  }
}

void check_epoch_order(const ValidGraph& graph, Plan& plan, PlanProblems& problems) {
  EpochOrder before(plan.domains.size(), std::vector<bool>(plan.domains.size()));
  for (const PlanStage& stage : plan.stages) {  // a cache is full when what is above it has ended
    if (!stage.is_cache()) continue;
    const int above = root_domain(plan, stage.lanes[1].domain);
    before[above][root_domain(plan, stage.lanes[0].domain)] = true;
  }
  check_caches(graph, before, plan, problems);
  for (std::size_t s = 0; s < graph.stages.size(); ++s) {
    const ValidStage& stage = graph.stages[s];
    if (stage.join != Join::epochs || !has_lane_per_source(stage)) continue;
    for (std::size_t i = 1; i < stage.sources.size(); ++i) {
      const int first = root_domain(plan, plan.stages[s].lanes[i - 1].domain);
      const int second = root_domain(plan, plan.stages[s].lanes[i].domain);
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
    if (stage.type->contract.numbering == Numbering::fixed)
      plan.stages[s].fan_out = stage.outputs_per_input;
    if (is_free(stage)) plan.stages[s].free_outputs = stage.outputs_per_input;
    if (stage.type->contract.cache) plan.stages[s].cache.rows = 1;  // as many as are needed later
    plan.stages[s].has_pool = stage.kind != StageKind::consumer;
    std::vector<PlanLane>& lanes = plan.stages[s].lanes;
    const std::size_t reading = has_lane_per_source(stage) ? stage.sources.size() : 1;
    lanes.assign(reading + (plan.stages[s].has_output_lane() ? 1 : 0), PlanLane{});
    for (std::size_t i = 0; i < stage.sources.size(); ++i) {
      const std::size_t lane = lane_of_source(plan.stages[s], i);
      lanes[lane].inputs.push_back(make_input(stage.sources[i]));
      auto& readers = plan.stages[stage.sources[i].stage].readers;
      const std::pair<int, int> reader{static_cast<int>(s), static_cast<int>(lane)};
      if (std::find(readers.begin(), readers.end(), reader) == readers.end())
        readers.push_back(reader);
    }
  }
}

void number_domains(const ValidGraph& graph, Plan& plan, PlanProblems& problems) {
  Domains(graph, plan, problems).number();
  check_epoch_order(graph, plan, problems);
}

}  // namespace brigade
