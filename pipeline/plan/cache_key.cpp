#include "pipeline/plan/cache_key.h"

#include <optional>
#include <string_view>

#include <brigade/text.h>
#include "base/units.h"
#include "pipeline/config/graph/valid_graph.h"
#include "pipeline/config/language/subset_parser.h"
#include "pipeline/config/language/weights_parser.h"
#include "pipeline/plan/caches.h"
#include "pipeline/plan/subset.h"
#include "stages/api/file_patterns.h"
#include "stages/detail/fused_stage.h"

namespace brigade {
namespace {

class Contents {
 public:
  Contents(const StageTypes& types, const FileStamp& stamp) : types_(types), stamp_(stamp) {}

  template <class Value>
  void add(std::string_view stage, std::string_view key, const Value& value) {
    text_ += concat(stage, ".", key, " = ", value, "\n");
  }

  void add_ring(const PlanStage& stage) {
    for (const PlanTensor& tensor : stage.ring.tensors)
      add(stage.name, concat("gives.", tensor.type.name), tensor.type.text());
  }

  void add_stage(const Plan& plan, const PlanStage& stage) {
    add(stage.name, "type", stage.type);
    add_params(stage);
    add(stage.name, "seed", stage.seed);
    add(stage.name, "random", quote(stage.random));
    add(stage.name, "shuffle", stage.shuffle);
    for (const auto& [key, text] : subset_lines(stage)) add(stage.name, key, text);
    add(stage.name, "device", stage.device);
    add(stage.name, "on_error", stage.on_error.skip ? "skip" : "stop");
    add(stage.name, "join", static_cast<int>(stage.join));
    add(stage.name, "makes", stage.flat_map_outputs == 0 ? stage.fan_out : stage.flat_map_outputs);
    for (const auto& [name, value] : stage.env) add(stage.name, concat("env.", name), quote(value));
    if (stage.batched) add(stage.name, "batch", stage.queues.back().task);
    if (stage.batched) add(stage.name, "drop_last", stage.drop_last);
    add_inputs(plan, stage);
    add_ring(stage);
  }

  void add_inputs(const Plan& plan, const PlanStage& stage) {
    add(stage.name, "from", inputs_text(plan, stage));
  }

  std::string take() { return std::move(text_); }

 private:
  void add_params(const PlanStage& stage) {
    StageType fused;
    const StageType* const type = find_type_or_fused(types_, stage.type, fused);
    if (type != nullptr) add_type(stage, *type);
    if (stage.is_exec()) add_program(stage);
    for (const auto& [name, value] : stage.params) {
      const std::string key = concat("params.", name);
      add(stage.name, key, param_text(value));
      const ParamSpec* const spec = type == nullptr ? nullptr : type->contract.find_param(name);
      if (spec == nullptr) continue;
      if (spec->type == ParamType::input_path && !value.text.empty())
        add(stage.name, concat(key, ".file"), stamp_(value.text));
      if (spec->type == ParamType::input_files) add_files(stage, key, value);
      if (spec->type != ParamType::input_paths) continue;
      for (const auto& [file, path] : value.entries)
        add(stage.name, concat(key, ".", file, ".file"), stamp_(path.text));
    }
  }

  // Of wildcards the folder they are in.
  void add_files(const PlanStage& stage, const std::string& key, const ParamValue& value) {
    InputFiles files;
    if (!parse_param(value, files)) return;
    for (const std::string& pattern : files.patterns) {
      const auto names = expand_braces(pattern);
      for (const std::string& name : names ? *names : std::vector<std::string>{})
        add(stage.name, concat(key, ".", name, ".file"),
            stamp_(is_wildcard(name) ? folder_of_wildcard(name) : name));
    }
  }

  // The files among its words too: of an interpreter, the script.
  void add_program(const PlanStage& stage) {
    for (const std::string& word : stage.exec) {
      add(stage.name, "exec", quote(word));
      const std::string path = word.starts_with('/') ? word : concat(stage.exec_folder, "/", word);
      add(stage.name, concat("exec.", word, ".file"), stamp_(path));
    }
    add(stage.name, "count", stage.count);
  }

  // Of a plugin, or a module of the program, the library too.
  void add_type(const PlanStage& stage, const StageType& type) {
    add(stage.name, "contract", type.contract.hash());
    for (const StageType* link : parts_of(type))
      if (link->module.starts_with('/')) add(stage.name, link->module, stamp_(link->module));
  }

  const StageTypes& types_;
  const FileStamp& stamp_;
  std::string text_;
};

std::string_view key_of(std::string_view line) { return line.substr(0, line.find(" = ")); }

std::string_view value_of(std::string_view line) {
  const std::size_t at = line.find(" = ");
  return at == std::string_view::npos ? "" : line.substr(at + 3);
}

std::optional<std::string_view> line_of(std::string_view text, std::string_view key) {
  for (const std::string_view line : split(text, '\n'))
    if (!line.empty() && key_of(line) == key) return line;
  return std::nullopt;
}

}  // namespace

std::vector<std::pair<std::string_view, std::string>> subset_lines(const StageKeys& keys) {
  std::vector<std::pair<std::string_view, std::string>> lines;
  if (keys.skip != 0) lines.emplace_back("skip", concat(keys.skip));
  if (!keys.split.shares.empty()) {
    std::vector<std::string> shares;
    for (const SplitShare& one : keys.split.shares)
      shares.push_back(concat(one.name, ": ", print_share(one.share)));
    lines.emplace_back("split", concat(join(shares, ", "), ", seed: ", keys.split.seed));
    lines.emplace_back("part", keys.part);
  }
  lines.emplace_back("limit", limit_text(keys.limit));
  // Of the front nothing is said, as before there was another way.
  if (is_spread(keys)) lines.emplace_back("take", "spread");
  if (!is_drawn(keys)) return lines;
  if (keys.mix.any()) lines.emplace_back("mix", mix_text(keys.mix));
  // What is in a file is part of the source's fingerprint.
  lines.emplace_back("weights", keys.weights.file.empty() ? weights_text(keys.weights) : "file");
  lines.emplace_back("repeat_factor", concat(keys.repeat_factor.below));
  lines.emplace_back("samples", concat(keys.draws));
  return lines;
}

std::string inputs_text(const Plan& plan, const PlanStage& stage) {
  std::vector<std::string> inputs;
  for (const PlanQueue& queue : stage.queues)
    for (const PlanInput& input : queue.inputs)
      inputs.push_back(concat(input.port, ": ", plan.stages[input.stage].name, " [",
                              join(input.tensors, ", "), "]"));
  return join(inputs, "; ");
}

std::string param_text(const ParamValue& value) {
  std::vector<std::string> parts;
  for (const ParamValue& item : value.items) parts.push_back(param_text(item));
  for (const auto& [name, entry] : value.entries)
    parts.push_back(concat(quote(name), ": ", param_text(entry)));
  if (value.kind == ParamValue::Kind::list) return concat("[", join(parts, ", "), "]");
  if (value.kind == ParamValue::Kind::map) return concat("{", join(parts, ", "), "}");
  return value.kind == ParamValue::Kind::null ? "null" : quote(value.text);
}

std::string cache_key(const Plan& plan, StageNumber stage, const StageTypes& types,
                      const FileStamp& stamp) {
  const PlanStage& cache = plan.stages[stage];
  Contents contents(types, stamp);
  contents.add("graph", "ranks", concat(plan.shard.rank, " of ", plan.shard.world));
  const ByStage<bool> above = stages_above(plan, stage);
  for (const StageNumber s : above.numbers())
    if (above[s]) contents.add_stage(plan, plan.stages[s]);
  // Its shuffle and its seed decide the order in which it gives them, not what it keeps.
  contents.add("cache", "limit", limit_text(cache.limit));
  contents.add("cache", "room", cache.cache.slots);
  contents.add_inputs(plan, cache);
  contents.add_ring(cache);
  return contents.take();
}

std::string contents_difference(const std::string& before, const std::string& now) {
  for (const std::string_view line : split(now, '\n')) {
    if (line.empty()) continue;
    const std::string_view key = key_of(line);
    const auto old = line_of(before, key);
    if (!old) return concat(key, " is new");
    if (*old != line) return concat(key, " was ", value_of(*old), ", is ", value_of(line));
  }
  for (const std::string_view line : split(before, '\n'))
    if (!line.empty() && !line_of(now, key_of(line))) return concat(key_of(line), " is gone");
  return "its contents are listed in a different order";
}

CacheFileHeader cache_file_header(const PlanStage& stage, std::string contents) {
  CacheFileHeader header;
  header.slots = stage.cache.slots;
  header.data_bytes = stage.cache.bytes;
  for (const PlanTensor& tensor : stage.cache.tensors)
    header.arrays.push_back({tensor.type, tensor.offset, tensor.slot_stride});
  header.contents_hash = cache_contents_hash(contents);
  header.contents = std::move(contents);
  return header;
}

Result<ValidGraph> without_what_is_cached(const ValidGraph& graph, StageNumber stage,
                                          const std::string& file, const StageType& cached,
                                          std::uint64_t samples) {
  ValidGraph rest = graph;
  ValidStage& source = rest.stages[stage];
  source.kind = StageKind::producer;
  source.type = &cached;
  source.fused.reset();
  source.plugin.clear();
  source.params = cached.contract.make_params();
  source.param_values = {{"file", ParamValue::scalar(file)}};
  const ParamSpec* const spec = cached.contract.find_param("file");
  if (spec == nullptr)
    return Error{concat("a type ", quote(cached.contract.type), " without a file")};
  BRIGADE_TRY(set_param(*spec, source.params.get(), source.param_values.front().second));
  source.sources.clear();
  source.passed.clear();
  source.join = Join::single;
  source.samples = samples;
  ByStage<bool> kept = stages_above(graph, stage);
  kept.flip();
  keep_stages(rest, kept);
  return rest;
}

}  // namespace brigade
