#include "pipeline/plan/order_fingerprint.h"

#include <algorithm>
#include <string_view>

#include <brigade/text.h>
#include "pipeline/plan/cache_key.h"
#include "pipeline/plan/caches.h"
#include "stages/detail/exec_stage.h"
#include "stages/detail/fused_stage.h"

namespace brigade {
namespace {

/// Whether a parameter of this type says where something lies, and not what it is.
bool is_place(ParamType type) {
  switch (type) {
    case ParamType::input_path:
    case ParamType::output_path:
    case ParamType::input_paths:
    case ParamType::input_files:
      return true;
    case ParamType::flag:
    case ParamType::integer:
    case ParamType::number:
    case ParamType::text:
    case ParamType::size:
    case ParamType::duration:
    case ParamType::dtype:
    case ParamType::integers:
    case ParamType::numbers:
    case ParamType::texts:
    case ParamType::text_map:
    case ParamType::number_or_range:
    case ParamType::integer_or_all:
    case ParamType::operations:
    case ParamType::choice:
      return false;
  }
  return false;
}

class OrderText {
 public:
  explicit OrderText(const StageTypes& types) : types_(types) {}

  template <class Value>
  void add(std::string_view stage, std::string_view key, const Value& value) {
    text_ += concat(stage, ".", key, " = ", value, "\n");
  }

  /// A stage whose samples others read.
  void add_writer(const Plan& plan, const PlanStage& stage) {
    add(stage.name, "type", stage.type);
    add_params(stage);
    for (const PlanStage& part : stage.parts) add_part(stage, part);
    add(stage.name, "seed", stage.seed);
    add(stage.name, "random", quote(stage.random));
    add(stage.name, "shuffle", stage.shuffle);
    for (const auto& [key, text] : subset_lines(stage)) add(stage.name, key, text);
    add(stage.name, "on_error", stage.on_error.skip ? "skip" : "stop");
    add(stage.name, "makes", stage.flat_map_outputs == 0 ? stage.fan_out : stage.flat_map_outputs);
    add_reading(plan, stage);
    for (const PlanTensor& tensor : stage.ring.tensors)
      add(stage.name, concat("gives.", tensor.type.name), tensor.type.text());
  }

  /// A source of samples in a file. The stages above it run in some runs only.
  void add_cached_part(const PlanStage& stage, const std::string& contents) {
    add(stage.name, "keeps", contents);
    add(stage.name, "seed", stage.seed);
    add(stage.name, "shuffle", stage.shuffle);
    for (const auto& [key, text] : subset_lines(stage)) add(stage.name, key, text);
  }

  /// What any reader decides: its sources, and how they come in batches.
  void add_reading(const Plan& plan, const PlanStage& stage) {
    add(stage.name, "from", inputs_text(plan, stage));
    add(stage.name, "join", static_cast<int>(stage.join));
    if (stage.queues.front().fixed) add(stage.name, "replicas", stage.replicas);
    if (!stage.batched) return;
    add(stage.name, "drop_last", stage.drop_last);
    for (const QueueNumber l : stage.queues.numbers())
      add(stage.name, stage.queues.size() == 1 ? "batch" : concat("batch.", l.value()),
          stage.queues[l].task);
  }

  std::string take() { return std::move(text_); }

 private:
  /// Of a mixture.
  void add_part(const PlanStage& mix, const PlanStage& part) {
    PlanStage named = part;
    named.name = concat(mix.name, ".", part.name);
    add(named.name, "type", named.type);
    add_params(named);
    for (const auto& [key, text] : subset_lines(named)) add(named.name, key, text);
  }

  void add_params(const PlanStage& stage) {
    StageType fused;
    const StageType* const type = find_type_or_fused(types_, stage.type, fused);
    if (type != nullptr) add(stage.name, "contract", type->contract.hash());
    if (stage.is_exec()) add(stage.name, "count", stage.count);
    for (const auto& [name, value] : stage.params) {
      const ParamSpec* const spec = type == nullptr ? nullptr : type->contract.find_param(name);
      if (spec != nullptr && is_place(spec->type)) continue;
      if (stage.type == kPythonType && std::ranges::count(kPythonParams, name) != 0) continue;
      add(stage.name, concat("params.", name), param_text(value));
    }
  }

  const StageTypes& types_;
  std::string text_;
};

}  // namespace

std::string order_fingerprint(const Plan& plan, const StageTypes& types, const CacheKeyOf& kept) {
  ByStage<std::string> contents(plan.stages.size());
  ByStage<bool> gone(plan.stages.size());
  for (const StageNumber s : plan.stages.numbers()) {
    contents[s] = kept(plan, s);
    if (contents[s].empty()) continue;
    const ByStage<bool> above = stages_above(plan, s);
    for (const StageNumber a : above.numbers()) gone[a] = gone[a] || above[a];
  }
  OrderText text(types);
  text.add("graph", "ranks", concat(plan.shard.rank, " of ", plan.shard.world));
  text.add("graph", "uneven", static_cast<int>(plan.shard.uneven));
  for (const StageNumber s : plan.stages.numbers()) {
    const PlanStage& stage = plan.stages[s];
    if (gone[s]) continue;
    if (!contents[s].empty())
      text.add_cached_part(stage, contents[s]);
    else if (stage.kind == StageKind::consumer)
      text.add_reading(plan, stage);
    else
      text.add_writer(plan, stage);
  }
  return text.take();
}

bool takes_any_order(const PlanStage& stage) {
  return stage.is_output() &&
         std::any_of(stage.params.begin(), stage.params.end(), [](const auto& param) {
           return param.first == "order" && param.second.text == "any";
         });
}

}  // namespace brigade
