#include <algorithm>
#include <array>
#include <utility>

#include <brigade/check.h>
#include <brigade/text.h>
#include "pipeline/config/language/key_reader.h"
#include "pipeline/config/language/source_parser.h"
#include "pipeline/config/language/spec_parser.h"
#include "pipeline/config/language/spec_reader.h"
#include "pipeline/config/language/tensors_parser.h"

namespace brigade {

namespace {

struct StageParser {
  explicit StageParser(SpecReader reader) : read(std::move(reader)) {}

  StageSpec stage;
  SpecReader read;

  void kind(StageKind which, const YamlEntry& entry, const KeySpec& key) {
    if (stage.kind) {
      read.error(entry.key_span,
                 concat("has both `", stage_kind_name(*stage.kind), ":` and `", key.name, ":`"),
                 {"a stage is one of producer, transform or consumer"});
      stage.broken = true;
      return;
    }
    stage.kind = which;
    if (entry.value.is_list() && which == StageKind::transform) return fused(entry);
    type(entry, key);
  }

  void type(const YamlEntry& entry, const KeySpec& key) {
    const auto name = read.text(entry, key);
    stage.broken |= !name;
    if (name) stage.types.push_back({*name, std::nullopt});
  }

  // [a, {b: {...}}]
  void fused(const YamlEntry& entry) {
    stage.fused = entry.value.span;
    for (const YamlNode& item : entry.value.items) {
      if (item.is_scalar()) {
        stage.types.push_back({{item.text, item.span}, std::nullopt});
      } else if (item.is_map() && item.entries.size() == 1) {
        const YamlEntry& only = item.entries.front();
        stage.types.push_back({{only.key, only.key_span}, only.value});
      } else {
        read.error(item.span, concat("`transform`: expected a stage type or {TYPE: {...}}, found ",
                                     describe(item)));
        stage.broken = true;
      }
    }
    if (!entry.value.items.empty()) return;
    read.error(entry.value.span, "`transform`: an empty list");
    stage.broken = true;
  }

  // [PROGRAM, ARGUMENT, ...]
  void exec(const YamlEntry& entry, const KeySpec& key) {
    const YamlNode* const program =
        entry.value.is_list() && !entry.value.items.empty() ? &entry.value.items[0] : &entry.value;
    const bool texts = std::all_of(entry.value.items.begin(), entry.value.items.end(),
                                   [](const YamlNode& item) { return item.is_scalar(); });
    stage.types.push_back({{std::string(key.name), entry.key_span}, std::nullopt});
    if (!texts || !program->is_scalar() || program->text.empty()) {
      stage.broken = true;
      return read.unexpected(entry, key,
                             {"for example `exec: [python3, stage.py]`: each item is a string"});
    }
    stage.exec.emplace();
    stage.exec->program = {{program->text, program->origin}, program->span};
    for (std::size_t i = 1; i < entry.value.items.size(); ++i)
      stage.exec->arguments.push_back(entry.value.items[i].text);
  }

  // A program reads what `from:` says, and writes what `tensors:` says.
  void exec_kind(const YamlNode& node) {
    if (stage.kind || stage.plugin) {
      read.error(stage.types.front().name.span,
                 concat("has both `exec:` and `",
                        stage.kind ? stage_kind_name(*stage.kind) : "plugin", ":`"),
                 {"`exec:` replaces the stage type; remove one of them"});
      stage.broken = true;
    }
    if (stage.kind) return;
    stage.kind = node.find("from") == nullptr      ? StageKind::producer
                 : node.find("tensors") == nullptr ? StageKind::consumer
                                                   : StageKind::transform;
  }

  // It makes samples of its own: those of the producers that it names.
  void mix_kind(const YamlEntry& mix) {
    if (stage.kind || stage.plugin || stage.exec) {
      read.error(mix.key_span,
                 concat("has both `mix:` and `",
                        stage.exec   ? "exec"
                        : stage.kind ? stage_kind_name(*stage.kind)
                                     : "plugin",
                        ":`"),
                 {"`mix:` replaces the stage type and names producers that have one"});
      stage.broken = true;
    }
    if (stage.kind) return;
    stage.kind = StageKind::producer;
    stage.types.push_back({{mix.key, mix.key_span}, std::nullopt});
    stage.broken |= stage.given("mix") == nullptr;
    for (const YamlEntry& one : mix.value.entries)
      if (!one.value.is_null()) stage.mixed.push_back({one.key, one.key_span});
  }

  void from(const YamlEntry& entry) {
    stage.from = entry.key_span;
    auto sources = parse_sources(entry, read);
    stage.broken |= !sources;
    if (sources) stage.sources = std::move(*sources);
  }

  void join(const YamlEntry& entry, const KeySpec& key) {
    const auto value = read.choice(entry, key);
    stage.broken |= !value;
    if (value)  // zip is 0, after Join::single
      stage.join = Marked<Join>{static_cast<Join>(value->value + 1), value->span};
  }

  void params(const YamlEntry& entry, const KeySpec& key) {
    if (read.is_mapping(entry, key)) stage.params = Marked<YamlNode>{entry.value, entry.key_span};
    stage.params_broken = !entry.value.is_map() && !entry.value.is_null();
  }

  void tensors(const YamlEntry& entry, const KeySpec& key) {
    stage.tensors = parse_tensors(entry, key, read);
    stage.tensors_broken = !stage.tensors;
  }
};

struct Handler {
  std::string_view key;
  void (*handle)(StageParser&, const YamlEntry&, const KeySpec&);
};

// A row for each stage key that no member holds.
constexpr std::array kHandlers = {
    Handler{"producer", [](auto& p, auto& e, auto& k) { p.kind(StageKind::producer, e, k); }},
    Handler{"transform", [](auto& p, auto& e, auto& k) { p.kind(StageKind::transform, e, k); }},
    Handler{"consumer", [](auto& p, auto& e, auto& k) { p.kind(StageKind::consumer, e, k); }},
    Handler{"plugin", [](auto& p, auto& e, auto& k) { p.stage.plugin = p.read.path(e, k); }},
    Handler{"from", [](auto& p, auto& e, auto&) { p.from(e); }},
    Handler{"join", [](auto& p, auto& e, auto& k) { p.join(e, k); }},
    Handler{"params", [](auto& p, auto& e, auto& k) { p.params(e, k); }},
    Handler{"keep", [](auto& p, auto& e, auto& k) { p.stage.keep = p.read.names(e, k); }},
    Handler{"drop", [](auto& p, auto& e, auto& k) { p.stage.drop = p.read.names(e, k); }},
    Handler{"tensors", [](auto& p, auto& e, auto& k) { p.tensors(e, k); }},
    Handler{"shared",
            [](auto& p, auto& e, auto& k) {
              p.stage.shared = p.read.names(e, k).value_or(std::vector<Marked<std::string>>());
            }},
    Handler{"exec", [](auto& p, auto& e, auto& k) { p.exec(e, k); }},
};

void parse_key(const YamlEntry& entry, const KeySpec& key, StageParser& parser) {
  StageSpec& stage = parser.stage;
  const auto field = find_field<StageKeys, StagePlanningKeys>(key, stage, stage);
  const bool good = field && read_key(entry, key, *field, parser.read);
  stage.keys.push_back({&key, entry.key_span, entry.value.span, good});
  if (field) return;
  for (const Handler& handler : kHandlers)
    if (handler.key == key.name) return handler.handle(parser, entry, key);
  BRIGADE_CHECK(false, key.name);
}

void parse_keys(const YamlNode& node, StageParser& parser, const std::vector<std::string>& others) {
  parser.read.each(
      node, KeyScope::stage,
      [&parser](const YamlEntry& entry, const KeySpec& key) { parse_key(entry, key, parser); },
      [&parser](const YamlEntry& entry) {
        if (!entry.key.starts_with("x-"))
          parser.stage.unknown_keys.push_back({entry.key, entry.key_span});
      });
  StageSpec& stage = parser.stage;
  if (stage.fused && stage.params)
    parser.read.error(stage.params->span, "`params` cannot be combined with a list of stage types",
                      {"write the parameters at their type: `transform: [a, {b: {size: 8}}]`"});
  if (const YamlEntry* const exec = node.find("exec"); exec && !exec->value.is_null())
    return parser.exec_kind(node);
  if (const YamlEntry* const mix = node.find("mix"); mix && !mix->value.is_null())
    return parser.mix_kind(*mix);
  if (stage.kind || node.find("producer") || node.find("transform") || node.find("consumer"))
    return;
  stage.broken = true;
  std::vector<std::string> help{
      "write the stage type, such as `producer: synthetic`; `brigade stages` lists them"};
  if (const auto meant = did_you_mean(stage.name.value, others))
    help.insert(help.begin(), concat("did you mean the stage ", quote(*meant), "?"));
  parser.read.error(stage.name.span, "has neither `producer:`, `transform:` nor `consumer:`",
                    std::move(help));
}

}  // namespace

StageSpec parse_stage(const YamlEntry& entry, Diagnostics& diagnostics,
                      const std::vector<std::string>& others) {
  StageParser parser(SpecReader(concat("stage ", quote(entry.key), ": "), diagnostics));
  parser.stage.name = {entry.key, entry.key_span};
  if (!is_name(entry.key)) {
    parser.read.error(entry.key_span, "not a valid stage name",
                      {concat("a name has letters, digits, _ and -, begins with a letter and has "
                              "at most ",
                              kNameBytesMax, " characters")});
  }
  if (!entry.value.is_map()) {
    parser.stage.broken = true;
    const Span& span = entry.value.is_null() ? entry.key_span : entry.value.span;
    parser.read.error(
        span,
        concat("expected a mapping such as {producer: synthetic}, found ", describe(entry.value)),
        {"write the keys of a stage below its name, indented"});
  } else {
    parse_keys(entry.value, parser, others);
  }
  return std::move(parser.stage);
}

}  // namespace brigade
