#include "pipeline/config/graph/effective_yaml.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <brigade/text.h>
#include "base/units.h"
#include "pipeline/config/graph/exec_params.h"
#include "pipeline/config/graph/valid_graph.h"
#include "pipeline/config/language/key_text.h"
#include "pipeline/config/yaml/yaml_writer.h"
#include "stages/detail/exec_stage.h"
#include "stages/detail/fused_stage.h"

namespace brigade {

namespace {

void put(YamlNode& map, std::string_view key, YamlNode value) {
  map.entries.push_back({std::string(key), {}, std::move(value)});
}
void put(YamlNode& map, std::string_view key, std::string_view text) {
  put(map, key, YamlNode::scalar(quote_dollars(text)));
}
YamlNode param_node(const ParamValue& value) {
  switch (value.kind) {
    case ParamValue::Kind::null:
      break;
    case ParamValue::Kind::scalar:
      return YamlNode::scalar(quote_dollars(value.text));
    case ParamValue::Kind::list: {
      YamlNode list = YamlNode::list();
      for (const ParamValue& item : value.items) list.items.push_back(param_node(item));
      return list;
    }
    case ParamValue::Kind::map: {
      YamlNode map = YamlNode::map();
      for (const auto& [key, entry] : value.entries) put(map, key, param_node(entry));
      return map;
    }
  }
  return {};
}

/// The value of a key that one of the structs holds, unless it stands for "not given".
template <class... Keys, class Struct>
void put_field(YamlNode& map, const KeySpec& key, const Struct& value) {
  auto& keys = const_cast<Struct&>(value);  // print_key() only reads
  const auto field = find_field<Keys...>(key, static_cast<Keys&>(keys)...);
  YamlNode node = field ? print_key(key, *field) : YamlNode();
  if (!node.is_null()) put(map, key.name, std::move(node));
}

YamlNode source_node(const ValidGraph& graph, const ValidStage& reader, const ValidSource& source) {
  const ValidStage& writer = graph.stages[source.stage];
  std::string name = writer.name;
  if (!source.tensor.empty()) name += concat(".", source.tensor);
  const bool own_batch = reader.batched && source.batch != writer.batch;
  if (!own_batch && !source.max_wait_ns) return YamlNode::scalar(std::move(name));
  YamlNode map = YamlNode::map();
  put(map, "stage", name);
  if (own_batch) put(map, "batch", concat(source.batch));
  if (source.max_wait_ns)
    put(map, "max_wait", print_duration(std::chrono::nanoseconds(*source.max_wait_ns)));
  return map;
}

void put_sources(YamlNode& map, const ValidGraph& graph, const ValidStage& stage) {
  if (stage.sources.empty()) return;
  const ValidSource& first = stage.sources.front();
  const ValidStage& writer = graph.stages[first.stage];
  if (stage.sources.size() == 1 && first.port == writer.name) {
    put(map, "from", source_node(graph, stage, first));
    return;
  }
  YamlNode ports = YamlNode::map();
  for (const ValidSource& source : stage.sources)
    put(ports, source.port, source_node(graph, stage, source));
  put(map, "from", std::move(ports));
}

void put_passed(YamlNode& map, const ValidStage& stage) {
  if (!stage.type->contract.rest_passes || stage.kind != StageKind::transform) return;
  YamlNode keep = YamlNode::list();
  for (const PassedTensor& passed : stage.passed) {
    const ValidSource& source = stage.sources[static_cast<std::size_t>(passed.source)];
    keep.items.push_back(YamlNode::scalar(concat(source.port, ".", passed.name)));
  }
  put(map, "keep", std::move(keep));
}

YamlNode tensor_node(const TensorType& type) {
  YamlNode shape = YamlNode::list();
  for (const Dim& dim : type.shape)
    shape.items.push_back(
        YamlNode::scalar(concat(dim.kind == Dim::Kind::up_to ? "<=" : "", dim.size)));
  YamlNode tensor = YamlNode::map();
  put(tensor, "dtype", dtype_name(type.dtype));
  put(tensor, "shape", std::move(shape));
  return tensor;
}

/// Of a Python stage the command follows from its parameters.
bool is_exec(const ValidStage& stage) { return stage.type->contract.type == kExecType; }

void put_tensors(YamlNode& map, const ValidStage& stage) {
  const bool program = stage.type->contract.application || is_exec(stage);
  if (!program || stage.kind == StageKind::consumer) return;
  YamlNode tensors = YamlNode::map();
  const auto own = stage.outputs.tensors.size() - stage.passed.size();
  for (std::size_t i = 0; i < own; ++i) {
    const TensorType& type = stage.outputs.tensors[i];
    put(tensors, type.name, tensor_node(type));
  }
  put(map, "tensors", std::move(tensors));
}

/// Those whose names begin with `prefix`, without it.
YamlNode params_node(const ValidStage& stage, std::string_view prefix) {
  YamlNode params = YamlNode::map();
  for (const auto& [full, value] : stage.param_values) {
    const auto name = strip_prefix(full, prefix);
    if (!stage.exec.empty()) put(params, full, exec_param_node(value.text));
    if (stage.exec.empty() && name && value.kind != ParamValue::Kind::null)
      put(params, std::string(*name), param_node(value));
  }
  return params;
}

void put_params(YamlNode& map, const ValidStage& stage) {
  if (stage.fused) return;  // they stand at their types
  YamlNode params = params_node(stage, "");
  if (!params.entries.empty()) put(map, "params", std::move(params));
}

YamlNode exec_node(const ValidStage& stage) {
  YamlNode list = YamlNode::list();
  for (const std::string& word : stage.exec)
    list.items.push_back(YamlNode::scalar(quote_dollars(word)));
  return list;
}

YamlNode type_node(const ValidStage& stage) {
  if (!stage.fused) return YamlNode::scalar(stage.type->contract.type);
  YamlNode list = YamlNode::list();
  const std::vector<std::string> names = fused_link_names(stage.fused->links);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string& type = stage.fused->links[i]->contract.type;
    YamlNode params = params_node(stage, concat(names[i], "."));
    YamlNode link = YamlNode::map();
    put(link, type, std::move(params));
    list.items.push_back(link.entries.front().value.entries.empty() ? YamlNode::scalar(type)
                                                                    : std::move(link));
  }
  return list;
}

// Whether a key can be given here, and says more than that.
bool has_effect(const KeySpec& key, const ValidStage& stage) {
  if (!stage.parts.empty() && is_key_of_part(key.name)) return false;
  if (key.name == "drop_last") return stage.batched;
  if (key.name == "chunk") return !stage.batched;
  if (key.name == "assign") return stage.fixed;
  if (key.name == "memory") return stage.device_memory;
  const bool application = stage.type->contract.application;
  if (key.name == "pin")
    return !application && (stage.type->contract.holds ||
                            (stage.type->contract.uploads != nullptr && stage.device_memory));
  if (key.name == "hold_timeout") return application;
  if (key.name == "hold")
    return stage.type->contract.holds || (application && stage.kind == StageKind::consumer);
  if (application && key.of_processes) return false;
  return (key.users & key_users(stage)) != 0;
}

void put_mapped(YamlNode& map, const ValidGraph& graph, const ValidStage& stage) {
  if (stage.shared.empty()) return;
  YamlNode names = YamlNode::list();
  for (const int i : stage.shared)
    names.items.push_back(YamlNode::scalar(graph.shared[static_cast<std::size_t>(i)].type.name));
  put(map, "shared", std::move(names));
}

/// `only_drawn`: it is the part of a mixture, and nothing else.
YamlNode stage_node(const ValidGraph& graph, const ValidStage& stage, bool only_drawn = false) {
  YamlNode map = YamlNode::map();
  for (const KeySpec& key : key_table()) {
    if (key.scope != KeyScope::stage || (only_drawn && !is_key_of_part(key.name))) continue;
    const bool exec = is_exec(stage);
    if (key.name == stage_kind_name(stage.kind) && !exec && stage.parts.empty())
      put(map, key.name, type_node(stage));
    if (key.name == "exec" && exec) put(map, key.name, exec_node(stage));
    if (key.name == "plugin" && !stage.plugin.empty()) put(map, key.name, stage.plugin);
    if (key.name == "from") put_sources(map, graph, stage);
    if (key.name == "join" && stage.join != Join::single)
      put(map, key.name,
          value_names(key.scope, key.name)[static_cast<std::size_t>(stage.join) - 1]);
    if (key.name == "params") put_params(map, stage);
    if (key.name == "keep") put_passed(map, stage);
    if (key.name == "tensors") put_tensors(map, stage);
    if (key.name == "shared") put_mapped(map, graph, stage);
    if (has_effect(key, stage)) put_field<StageKeys, StagePlanningKeys>(map, key, stage);
  }
  return map;
}

void put_shared(YamlNode& root, const ValidGraph& graph) {
  if (graph.shared.empty()) return;
  YamlNode all = YamlNode::map();
  for (const ValidShared& shared : graph.shared) {
    YamlNode one = tensor_node(shared.type);
    const bool by_stage = shared.init_stage != -1;
    put(one, "init",
        by_stage                   ? concat(graph.stages[shared.init_stage].name, ".replica_0")
        : shared.init_file.empty() ? "zeros"
                                   : shared.init_file);
    if (!shared.save_file.empty()) put(one, "save", shared.save_file);
    put(one, "access", shared.own_part ? "own_part" : "shared");
    put(all, shared.type.name, std::move(one));
  }
  put(root, "shared", std::move(all));
}

void put_checkpoint(YamlNode& root, const ValidGraph& graph) {
  if (graph.checkpoint_file.empty()) return;
  const CheckpointEvery& every = graph.checkpoint_every;
  YamlNode checkpoint = YamlNode::map();
  put(checkpoint, "file", graph.checkpoint_file);
  if (every.samples != 0) put(checkpoint, "every", concat(every.samples));
  if (every.ns != 0) put(checkpoint, "every", print_duration(std::chrono::nanoseconds(every.ns)));
  put(root, "checkpoint", std::move(checkpoint));
}

YamlNode shard_node(const Shard& shard) {
  YamlNode map = YamlNode::map();
  for (const KeySpec& key : key_table()) put_field<Shard>(map, key, shard);
  return map;
}

YamlNode stages_node(const ValidGraph& graph) {
  YamlNode stages = YamlNode::map();
  for (const ValidStage& stage : graph.stages) {
    for (const ValidStage& part : stage.parts)
      if (stages.find(part.name) == nullptr) put(stages, part.name, stage_node(graph, part, true));
    put(stages, stage.name, stage_node(graph, stage));
  }
  return stages;
}

}  // namespace

std::string effective_yaml(const ValidGraph& graph) {
  YamlNode root = YamlNode::map();
  for (const KeySpec& key : key_table()) {
    if (key.scope != KeyScope::top) continue;
    if (key.name == "brigade") put(root, key.name, key.default_text);
    if (key.name == "shard") put(root, key.name, shard_node(graph.shard));
    if (key.name == "checkpoint") put_checkpoint(root, graph);
    if (key.name == "shared") put_shared(root, graph);
    put_field<GraphKeys, GraphPlanningKeys>(root, key, graph);
  }
  put(root, "stages", stages_node(graph));
  return write_yaml(root);
}

}  // namespace brigade
