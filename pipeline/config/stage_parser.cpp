#include <array>
#include <utility>

#include "base/check.h"
#include "base/text.h"
#include "pipeline/config/policy_parser.h"
#include "pipeline/config/source_parser.h"
#include "pipeline/config/spec_parser.h"
#include "pipeline/config/spec_reader.h"

namespace brigade {

namespace {

struct StageParser {
  StageSpec stage;
  SpecReader read;

  void kind(StageKind which, const YamlEntry& entry, const KeySpec& key) {
    if (stage.kind) {
      read.error(entry.key_span,
                 concat("says both `", stage_kind_name(*stage.kind), ":` and `", key.name, ":`"),
                 {"a stage is one of producer, transform or consumer"});
      stage.broken = true;
      return;
    }
    stage.kind = which;
    if (entry.value.is_list() && which == StageKind::transform) return chain(entry);
    type(entry, key);
  }

  void type(const YamlEntry& entry, const KeySpec& key) {
    const auto name = read.text(entry, key);
    stage.broken |= !name;
    if (!name) return;
    const ValueSpec* special = find_value(KeyScope::stage, key.name, name->value);
    if (special != nullptr && !special->built) {
      read.not_built(name->span, concat(key.name, ": ", special->value), special->help);
      stage.broken = true;
    }
    stage.types.push_back({*name, std::nullopt});
  }

  // [a, {b: {...}}]
  void chain(const YamlEntry& entry) {
    stage.chain = entry.value.span;
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

  void from(const YamlEntry& entry) {
    stage.from = entry.key_span;
    auto sources = parse_sources(entry, read);
    stage.broken |= !sources;
    if (sources) stage.sources = std::move(*sources);
  }

  void join(const YamlEntry& entry, const KeySpec& key) {
    const auto name = read.choice(entry, key);
    stage.broken |= !name;
    if (!name) return;
    const Join value = name->value == "zip"     ? Join::zip
                       : name->value == "merge" ? Join::merge
                                                : Join::epochs;
    stage.join = Marked<Join>{value, name->span};
  }

  void params(const YamlEntry& entry, const KeySpec& key) {
    if (read.is_mapping(entry, key)) stage.params = Marked<YamlNode>{entry.value, entry.key_span};
    stage.params_broken = !entry.value.is_map() && !entry.value.is_null();
  }

  void env(const YamlEntry& entry, const KeySpec& key) {
    stage.env = read.texts(entry, key);
    for (const YamlEntry& variable : entry.value.entries)
      if (variable.key.empty() || variable.key.find_first_of("= ") != std::string::npos)
        read.error(variable.key_span,
                   concat("`env`: ", quote(variable.key), " is no name of a variable"));
  }

  void exec(const YamlEntry& entry, const KeySpec& key) {
    if (entry.value.is_map()) read.unexpected(entry, key);
  }
};

struct Handler {
  std::string_view key;
  void (*handle)(StageParser&, const YamlEntry&, const KeySpec&);
};

// A row for each stage key of the key table.
constexpr std::array kHandlers = {
    Handler{"producer", [](auto& p, auto& e, auto& k) { p.kind(StageKind::producer, e, k); }},
    Handler{"transform", [](auto& p, auto& e, auto& k) { p.kind(StageKind::transform, e, k); }},
    Handler{"consumer", [](auto& p, auto& e, auto& k) { p.kind(StageKind::consumer, e, k); }},
    Handler{"from", [](auto& p, auto& e, auto&) { p.from(e); }},
    Handler{"join", [](auto& p, auto& e, auto& k) { p.join(e, k); }},
    Handler{"params", [](auto& p, auto& e, auto& k) { p.params(e, k); }},
    Handler{"replicas",
            [](auto& p, auto& e, auto& k) { p.stage.replicas = p.read.whole_or_auto(e, k); }},
    Handler{"threads", [](auto& p, auto& e, auto& k) { p.stage.threads = p.read.whole(e, k); }},
    Handler{"batch", [](auto& p, auto& e, auto& k) { p.stage.batch = p.read.whole(e, k); }},
    Handler{"drop_last", [](auto& p, auto& e, auto& k) { p.stage.drop_last = p.read.flag(e, k); }},
    Handler{"rows", [](auto& p, auto& e, auto& k) { p.stage.rows = p.read.whole_or_auto(e, k); }},
    Handler{"buffers",
            [](auto& p, auto& e, auto& k) { p.stage.buffers = p.read.whole_or_auto(e, k); }},
    Handler{"assign", [](auto& p, auto& e, auto& k) { p.stage.assign = p.read.choice(e, k); }},
    Handler{"device",
            [](auto& p, auto& e, auto& k) { p.stage.device = parse_device(e, k, p.read); }},
    Handler{"on_error",
            [](auto& p, auto& e, auto& k) { p.stage.on_error = parse_on_error(e, k, p.read); }},
    Handler{"restart",
            [](auto& p, auto& e, auto& k) { p.stage.restart = parse_restart(e, k, p.read); }},
    Handler{"stall_timeout",
            [](auto& p, auto& e, auto& k) { p.stage.stall = parse_stall(e, k, p.read); }},
    Handler{"poison_after",
            [](auto& p, auto& e, auto& k) { p.stage.poison_after = p.read.whole(e, k); }},
    Handler{"cpus", [](auto& p, auto& e, auto& k) { p.stage.cpus = parse_cpus(e, k, p.read); }},
    Handler{"env", [](auto& p, auto& e, auto& k) { p.env(e, k); }},
    Handler{"plugin", [](auto& p, auto& e, auto& k) { p.stage.plugin = p.read.path(e, k); }},
    Handler{"exec", [](auto& p, auto& e, auto& k) { p.exec(e, k); }},
    Handler{"outputs", [](auto& p, auto& e, auto& k) { p.read.is_mapping(e, k); }},
    Handler{"hold", [](auto& p, auto& e, auto& k) { p.read.whole(e, k); }},
    Handler{"keep", [](auto& p, auto& e, auto& k) { p.stage.keep = p.read.names(e, k); }},
    Handler{"drop", [](auto& p, auto& e, auto& k) { p.stage.drop = p.read.names(e, k); }},
    Handler{"random", [](auto& p, auto& e, auto& k) { p.stage.random = p.read.name(e, k); }},
    Handler{"state", [](auto& p, auto& e, auto& k) { p.read.path(e, k); }},
    Handler{"shuffle", [](auto& p, auto& e, auto& k) { p.stage.shuffle = p.read.flag(e, k); }},
    Handler{"seed", [](auto& p, auto& e, auto& k) { p.stage.seed = p.read.whole(e, k); }},
    Handler{"limit", [](auto& p, auto& e, auto& k) { p.stage.limit = p.read.whole(e, k); }},
};

const Handler& handler_of(std::string_view key) {
  for (const Handler& handler : kHandlers)
    if (handler.key == key) return handler;
  BRIGADE_CHECK(false, key);
}

void parse_keys(const YamlNode& node, StageParser& parser) {
  parser.read.each(
      node, KeyScope::stage,
      [&parser](const YamlEntry& entry, const KeySpec& key) {
        parser.stage.keys.emplace_back(key.name, entry.key_span);
        handler_of(key.name).handle(parser, entry, key);
      },
      [&parser](const YamlEntry& entry) {
        if (!entry.key.starts_with("x-"))
          parser.stage.unknown_keys.push_back({entry.key, entry.key_span});
      });
  StageSpec& stage = parser.stage;
  if (stage.chain && stage.params)
    parser.read.error(stage.params->span, "`params` stands beside a list of stage types",
                      {"write them at their type: `transform: [a, {b: {size: 8}}]`"});
  if (stage.kind || node.find("producer") || node.find("transform") || node.find("consumer"))
    return;
  stage.broken = true;
  parser.read.error(stage.name.span, "says neither `producer:`, `transform:` nor `consumer:`",
                    {"write the stage type it is: `producer: synthetic`; `brigade stages` lists "
                     "them"});
}

}  // namespace

StageSpec parse_stage(const YamlEntry& entry, Diagnostics& diagnostics) {
  StageParser parser{{}, SpecReader(concat("stage ", quote(entry.key), ": "), diagnostics)};
  parser.stage.name = {entry.key, entry.key_span};
  if (!is_name(entry.key)) {
    parser.read.error(entry.key_span, "this is no name for a stage",
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
        {"the keys of a stage stand below its name, indented"});
  } else {
    parse_keys(entry.value, parser);
  }
  return std::move(parser.stage);
}

}  // namespace brigade
