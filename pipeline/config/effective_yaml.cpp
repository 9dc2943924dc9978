#include "pipeline/config/effective_yaml.h"

#include <charconv>
#include <chrono>
#include <utility>

#include "base/text.h"
#include "base/units.h"
#include "pipeline/config/key_table.h"
#include "pipeline/config/yaml_writer.h"
#include "stages/api/chain.h"

namespace brigade {

namespace {

void put(YamlNode& map, std::string_view key, YamlNode value) {
  map.entries.push_back({std::string(key), {}, std::move(value)});
}
void put(YamlNode& map, std::string_view key, std::string_view text) {
  put(map, key, YamlNode::scalar(quote_dollars(text)));
}
void put_number(YamlNode& map, std::string_view key, std::uint64_t number) {
  put(map, key, concat(number));
}
void put_flag(YamlNode& map, std::string_view key, bool flag) {
  put(map, key, flag ? "true" : "false");
}
void put_or_auto(YamlNode& map, std::string_view key, std::uint64_t number) {
  put(map, key, number == 0 ? "auto" : concat(number));
}

std::string duration_text(std::int64_t ns) { return print_duration(std::chrono::nanoseconds(ns)); }

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

YamlNode source_node(const ValidGraph& graph, const ValidStage& reader, const ValidSource& source) {
  const ValidStage& writer = graph.stages[static_cast<std::size_t>(source.stage)];
  std::string name = writer.name;
  if (!source.tensor.empty()) name += concat(".", source.tensor);
  const bool own_batch = reader.batched && source.batch != writer.batch;
  if (!own_batch && !source.max_wait_ns) return YamlNode::scalar(std::move(name));
  YamlNode map = YamlNode::map();
  put(map, "stage", name);
  if (own_batch) put_number(map, "batch", source.batch);
  if (source.max_wait_ns) put(map, "max_wait", duration_text(*source.max_wait_ns));
  return map;
}

void put_sources(YamlNode& map, const ValidGraph& graph, const ValidStage& stage) {
  if (stage.sources.empty()) return;
  const ValidSource& first = stage.sources.front();
  const ValidStage& writer = graph.stages[static_cast<std::size_t>(first.stage)];
  if (stage.sources.size() == 1 && first.port == writer.name) {
    put(map, "from", source_node(graph, stage, first));
    return;
  }
  YamlNode ports = YamlNode::map();
  for (const ValidSource& source : stage.sources)
    put(ports, source.port, source_node(graph, stage, source));
  put(map, "from", std::move(ports));
  if (stage.join == Join::zip) put(map, "join", "zip");
  if (stage.join == Join::merge) put(map, "join", "merge");
  if (stage.join == Join::epochs) put(map, "join", "epochs");
}

// Without an exponent.
std::string percent_text(double percent) {
  char text[400];
  const auto end = std::to_chars(text, text + sizeof text, percent, std::chars_format::fixed).ptr;
  return concat(std::string_view(text, static_cast<std::size_t>(end - text)), "%");
}

void put_on_error(YamlNode& map, const OnError& on_error) {
  if (!on_error.skip) return put(map, "on_error", "stop");
  YamlNode skip = YamlNode::map();
  put(skip, "skip",
      on_error.percent_max > 0 ? percent_text(on_error.percent_max) : concat(on_error.count_max));
  put(map, "on_error", std::move(skip));
}

void put_restart(YamlNode& map, const RestartSpec& restart) {
  using Policy = RestartSpec::Policy;
  const std::string_view policy = restart.policy == Policy::never        ? "never"
                                  : restart.policy == Policy::on_failure ? "on_failure"
                                                                         : "always";
  if (restart.policy == Policy::never && !restart.degrade) return put(map, "restart", policy);
  YamlNode value = YamlNode::map();
  put(value, "policy", policy);
  put(value, "backoff", duration_text(restart.backoff_ns));
  put_number(value, "burst", static_cast<std::uint64_t>(restart.burst));
  put(value, "within", duration_text(restart.within_ns));
  put(value, "then", restart.degrade ? "degrade" : "fail");
  put(map, "restart", std::move(value));
}

void put_stall(YamlNode& map, const StallSpec& stall) {
  if (!stall.abort) return put(map, "stall_timeout", duration_text(stall.after_ns));
  YamlNode value = YamlNode::map();
  put(value, "after", duration_text(stall.after_ns));
  put(value, "then", "abort");
  put(map, "stall_timeout", std::move(value));
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

void put_indexed(YamlNode& map, const ValidStage& stage) {
  if (!stage.type->indexed && !stage.type->contract.cache) return;
  put_flag(map, "shuffle", stage.shuffle);
  if (stage.seed) put_number(map, "seed", *stage.seed);
  if (stage.limit != 0) put_number(map, "limit", stage.limit);
}

/// Those whose names begin with `prefix`, without it.
YamlNode params_node(const ValidStage& stage, std::string_view prefix) {
  YamlNode params = YamlNode::map();
  for (const auto& [full, value] : stage.param_values) {
    const auto name = strip_prefix(full, prefix);
    if (name && value.kind != ParamValue::Kind::null)
      put(params, std::string(*name), param_node(value));
  }
  return params;
}

void put_params(YamlNode& map, const ValidStage& stage) {
  if (stage.chain) return;  // they stand at their types
  YamlNode params = params_node(stage, "");
  if (!params.entries.empty()) put(map, "params", std::move(params));
}

YamlNode type_node(const ValidStage& stage) {
  if (!stage.chain) return YamlNode::scalar(stage.type->contract.type);
  YamlNode list = YamlNode::list();
  const std::vector<std::string> names = chain_link_names(stage.chain->links);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string& type = stage.chain->links[i]->contract.type;
    YamlNode params = params_node(stage, concat(names[i], "."));
    YamlNode link = YamlNode::map();
    put(link, type, std::move(params));
    list.items.push_back(link.entries.front().value.entries.empty() ? YamlNode::scalar(type)
                                                                    : std::move(link));
  }
  return list;
}

void put_place(YamlNode& map, const ValidStage& stage) {
  put(map, "device", stage.device);
  if (!stage.cpus.empty()) {
    YamlNode cpus = YamlNode::list();
    for (const int cpu : stage.cpus) cpus.items.push_back(YamlNode::scalar(concat(cpu)));
    put(map, "cpus", std::move(cpus));
  }
  if (stage.env.empty()) return;
  YamlNode env = YamlNode::map();
  for (const auto& [name, value] : stage.env) put(env, name, value);
  put(map, "env", std::move(env));
}

YamlNode stage_node(const ValidGraph& graph, const ValidStage& stage) {
  const bool writes = stage.kind != StageKind::consumer;
  YamlNode map = YamlNode::map();
  put(map, stage_kind_name(stage.kind), type_node(stage));
  if (!stage.plugin.empty()) put(map, "plugin", stage.plugin);
  put_indexed(map, stage);
  put_sources(map, graph, stage);
  put_params(map, stage);
  put_or_auto(map, "replicas", stage.replicas);
  if (stage.fixed) put(map, "assign", "fixed");
  put_number(map, "threads", stage.threads);
  if (writes && stage.batch != 0) put_number(map, "batch", stage.batch);
  if (stage.batched) put_flag(map, "drop_last", stage.drop_last);
  if (!stage.batched) put_or_auto(map, "rows", stage.rows);
  if (writes) put_or_auto(map, "buffers", stage.buffers);
  put_place(map, stage);
  put_on_error(map, stage.on_error);
  put_restart(map, stage.restart);
  put_number(map, "poison_after", static_cast<std::uint64_t>(stage.poison_after));
  put_stall(map, stage.stall);
  put_passed(map, stage);
  put(map, "random", stage.random);
  return map;
}

YamlNode shard_node(const Shard& shard) {
  constexpr std::string_view kUneven[] = {"pad", "drop", "error"};
  YamlNode map = YamlNode::map();
  put_number(map, "rank", shard.rank);
  put_number(map, "world", shard.world);
  put(map, "uneven", kUneven[static_cast<int>(shard.uneven)]);
  return map;
}

}  // namespace

std::string effective_yaml(const ValidGraph& graph) {
  YamlNode root = YamlNode::map();
  put_number(root, "brigade", 1);
  put(root, "name", graph.name);
  put_number(root, "seed", graph.seed);
  put_number(root, "epochs", graph.epochs);
  put(root, "shard", shard_node(graph.shard));
  if (!graph.checkpoint_file.empty()) {
    YamlNode checkpoint = YamlNode::map();
    put(checkpoint, "file", graph.checkpoint_file);
    if (graph.checkpoint_every.samples != 0)
      put_number(checkpoint, "every", graph.checkpoint_every.samples);
    if (graph.checkpoint_every.ns != 0)
      put(checkpoint, "every", duration_text(graph.checkpoint_every.ns));
    put(root, "checkpoint", std::move(checkpoint));
  }
  put(root, "drain", duration_text(graph.drain_ns));
  put_flag(root, "oversubscribe", graph.oversubscribe);
  if (graph.memory_bytes_max != 0) put(root, "memory", print_size(graph.memory_bytes_max));
  YamlNode stages = YamlNode::map();
  for (const ValidStage& stage : graph.stages) put(stages, stage.name, stage_node(graph, stage));
  put(root, "stages", std::move(stages));
  return write_yaml(root);
}

}  // namespace brigade
