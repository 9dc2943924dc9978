#include "pipeline/config/language/spec_parser.h"

#include <utility>

#include <brigade/text.h>
#include "pipeline/config/language/key_reader.h"
#include "pipeline/config/language/policy_parser.h"
#include "pipeline/config/language/spec_reader.h"
#include "pipeline/config/language/tensors_parser.h"

namespace brigade {

namespace {

class GraphParser {
 public:
  explicit GraphParser(Diagnostics& diagnostics) : read_("", diagnostics) {}

  GraphSpec parse(const YamlNode& root) {
    graph_.stages_span = root.span;
    if (!root.is_map()) {
      read_.error(root.span, concat("expected a mapping with the key `stages:`, found ",
                                    root.is_null() ? "only comments" : describe(root)));
      return std::move(graph_);
    }
    const auto unknown = [this](const YamlEntry& entry) {
      if (entry.key.starts_with("x-")) return;
      read_.unknown_key(entry, KeyScope::top);
      if (looks_like_stage(entry.value)) astray_.push_back(&entry);
    };
    read_.each(
        root, KeyScope::top, [this](const auto& entry, const auto& key) { handle(entry, key); },
        unknown);
    if (root.find("stages") == nullptr) {
      Span start = root.span;
      start.length = 1;
      read_.error(start, "`stages:` is missing", {"a graph needs a producer and a consumer"});
    }
    for (const YamlEntry* stage : astray_)
      if (graph_.stages.size() < kStagesMax)
        graph_.stages.push_back(parse_stage(*stage, read_.diagnostics()));
    return std::move(graph_);
  }

 private:
  void handle(const YamlEntry& entry, const KeySpec& key) {
    if (const auto field = find_field<GraphKeys, GraphPlanningKeys>(key, graph_, graph_))
      read_key(entry, key, *field, read_);
    if (key.name == "brigade") version(entry, key);
    if (key.name == "vars") vars(entry, key);
    if (key.name == "stages") stages(entry);
    if (key.name == "shard") shard(entry, key);
    if (key.name == "checkpoint") checkpoint(entry, key);
    if (key.name == "shared") graph_.shared = parse_shared(entry, key, read_);
  }

  void version(const YamlEntry& entry, const KeySpec& key) {
    if (entry.value.is_scalar() && entry.value.text == key.default_text) return;
    read_.error(entry.value.span,
                concat("`brigade`: this program reads version ", key.default_text,
                       " of the language, found ", describe(entry.value)),
                {"write `brigade: 1`"});
  }

  void vars(const YamlEntry& entry, const KeySpec& key) {
    read_.texts(entry, key);
    for (const YamlEntry& var : entry.value.entries)
      if (!is_name(var.key))
        read_.error(var.key_span, concat("`vars`: ", quote(var.key), " is not a valid name"),
                    {"a name has letters, digits, _ and -, and begins with a letter"});
  }

  void checkpoint(const YamlEntry& entry, const KeySpec& key) {
    if (!read_.is_mapping(entry, key)) return;
    read_.each(entry.value, KeyScope::checkpoint, [this](const auto& inner, const auto& spec) {
      if (spec.name == "file") graph_.checkpoint_file = read_.path(inner, spec);
      if (spec.name == "every") graph_.checkpoint_every = parse_every(inner, spec, read_);
    });
  }

  void shard(const YamlEntry& entry, const KeySpec& key) {
    graph_.shard.span = entry.key_span;
    if (entry.value.is_scalar() && entry.value.text == "auto") return;
    if (!entry.value.is_map()) return read_.unexpected(entry, key);
    read_.each(entry.value, KeyScope::shard, [this](const auto& inner, const auto& spec) {
      if (spec.name == "rank") graph_.shard.rank = number_or_auto(inner, spec);
      if (spec.name == "world") graph_.shard.world = number_or_auto(inner, spec);
      if (spec.name == "uneven") read_key(inner, spec, &graph_.shard.uneven, read_);
    });
  }

  Given<std::uint64_t> number_or_auto(const YamlEntry& entry, const KeySpec& key) {
    if (!entry.value.is_scalar() || entry.value.text != "auto") return read_.whole(entry, key);
    return Marked<std::uint64_t>{ShardSpec::kAuto, entry.value.span};
  }

  void stages(const YamlEntry& entry) {
    graph_.stages_span = entry.key_span;
    if (entry.value.is_list()) {
      read_.error(entry.value.span, "`stages`: expected a mapping NAME: {...}, found a list",
                  {"write the name as the key: `images:` instead of `- name: images`"});
    } else if (!entry.value.is_map() || entry.value.entries.empty()) {
      read_.error(entry.key_span, "`stages:` has no stages",
                  {"a graph needs a producer and a consumer"});
    } else if (entry.value.entries.size() > kStagesMax) {
      read_.error(entry.key_span, concat("more than ", kStagesMax, " stages"));
    } else {
      std::vector<std::string> names;
      for (const YamlEntry& stage : entry.value.entries)
        if (looks_like_stage(stage.value)) names.push_back(stage.key);
      for (const YamlEntry& stage : entry.value.entries)
        graph_.stages.push_back(parse_stage(stage, read_.diagnostics(), names));
    }
  }

  SpecReader read_;
  GraphSpec graph_;
  std::vector<const YamlEntry*> astray_;  // stages that stand at the top level, by mistake
};

}  // namespace

GraphSpec parse_graph(const YamlNode& root, Diagnostics& diagnostics) {
  return GraphParser(diagnostics).parse(root);
}

}  // namespace brigade
