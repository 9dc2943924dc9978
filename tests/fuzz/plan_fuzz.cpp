// The plan under a fuzzer. Input that starts with '{' is read as a plan's JSON: what is accepted
// must print and read back as an equal plan. Other input is a recipe for a graph: whatever numbers
// it has, planning must end in problems or in a plan that passes check_plan().

#include <cstring>

#include <brigade/check.h>
#include "pipeline/cli/draw/graph_printer.h"
#include "pipeline/cli/draw/plan_printer.h"
#include "pipeline/plan/plan_check.h"
#include "pipeline/plan/plan_json.h"
#include "pipeline/plan/planner/planner.h"
#include "tests/fuzz/entry.h"
#include "tests/support/graph_builder.h"

namespace brigade {
namespace {

constexpr std::size_t kStagesMax = 24;

/// Takes values from the front of the input; zeros when it is used up.
class Recipe {
 public:
  explicit Recipe(std::string_view left) : left_(left) {}

  bool done() const { return left_.empty(); }
  std::uint8_t byte() {
    if (done()) return 0;
    const auto first = static_cast<std::uint8_t>(left_[0]);
    left_.remove_prefix(1);
    return first;
  }
  std::uint64_t below(std::uint64_t bound) { return byte() % bound; }

  /// Small numbers mostly, sometimes any of 64 bits.
  std::uint64_t number() {
    const std::uint8_t kind = byte();
    if (kind < 200) return kind % 20;
    std::uint64_t value = 0;
    for (int i = 0; i < 8; ++i) value = value << 8 | byte();
    return kind < 240 ? value % 100'000 : value;
  }

 private:
  std::string_view left_;
};

Ports make_ports(Recipe& recipe) {
  Ports ports;
  const std::uint64_t tensors = recipe.below(3);
  for (std::uint64_t t = 0; t < tensors; ++t) {
    TensorType type{"t" + std::to_string(t), recipe.below(2) == 0 ? u8 : f64, {}};
    const std::uint64_t rank = recipe.below(4);
    for (std::uint64_t d = 0; d < rank; ++d) {
      const auto size = static_cast<std::int64_t>(recipe.number() >> 1);
      type.shape.push_back(recipe.below(20) == 0 ? up_to(size) : Dim(size));
    }
    ports.tensors.push_back(std::move(type));
  }
  return ports;
}

void dress(ValidStage& stage, Recipe& recipe) {
  stage.replicas = recipe.number();
  stage.threads = recipe.number();
  stage.batch = recipe.number();
  stage.chunk = recipe.number();
  stage.buffers = recipe.number();
  stage.batched = recipe.below(2) == 1;
  stage.on_error = {recipe.below(2) == 1, recipe.number(), static_cast<double>(recipe.below(101))};
  for (ValidSource& source : stage.sources) source.batch = recipe.number();
}

GraphBuilder make_graph(Recipe& recipe) {
  GraphBuilder graph;
  std::vector<std::string> writers;
  for (std::size_t s = 0; s < kStagesMax && !recipe.done(); ++s) {
    const std::string name = "s" + std::to_string(s);
    const std::uint64_t kind = writers.empty() ? 0 : recipe.below(3);
    std::vector<std::string> from;
    for (std::uint64_t i = 0; kind != 0 && i <= recipe.below(4); ++i)
      from.push_back(writers[recipe.below(writers.size())]);
    Join join = from.size() < 2 ? Join::single : static_cast<Join>(1 + recipe.below(3));
    if (kind == 1 && join != Join::single) join = Join::zip;  // others are for consumers
    if (kind == 0) dress(graph.producer(name, make_ports(recipe)), recipe);
    if (kind == 1) dress(graph.transform(name, from, make_ports(recipe), join), recipe);
    if (kind == 2) dress(graph.consumer(name, from, join), recipe);
    if (kind != 2) writers.push_back(name);
  }
  return graph;
}

void plan_recipe(Recipe recipe) {
  MachineLimits limits;
  limits.cores_affinity = recipe.below(8);
  limits.memory_available_bytes = recipe.number() << 20;
  limits.descriptors_hard = 100'000;
  GraphBuilder graph = make_graph(recipe);
  const ValidGraph& valid = graph.build();
  (void)draw_ascii(valid);
  (void)draw_dot(valid);
  const PlanResult result = plan_graph(valid, limits);
  if (!result.ok()) return;
  const Result<void> checked = check_plan(result.plan);
  BRIGADE_CHECK(checked.ok(), checked.error().message);
  (void)print_plan(result.plan, limits, memory_room(limits, 0));
}

void read_json(std::string_view text) {
  const Result<Plan> plan = plan_from_json(text);
  if (!plan) return;
  const Result<Plan> again = plan_from_json(plan_to_json(*plan, -1));
  BRIGADE_CHECK(again.ok(), again.error().message);
  BRIGADE_CHECK(*again == *plan);
}

}  // namespace

void fuzz(std::string_view input) {
  input.starts_with('{') ? read_json(input) : plan_recipe(Recipe(input));
}

}  // namespace brigade
