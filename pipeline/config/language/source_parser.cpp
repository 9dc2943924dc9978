#include "pipeline/config/language/source_parser.h"

#include <utility>

#include <brigade/text.h>

namespace brigade {

namespace {

constexpr std::string_view kSourceHelp =
    "a source is `stage`, `stage.tensor` or `{stage: NAME, batch: 64}`";

class SourceParser {
 public:
  explicit SourceParser(SpecReader& read) : read_(read) {}

  // "stage" or "stage.tensor".
  bool name(const YamlNode& node, SourceSpec& source) {
    source.span = node.span;
    if (!node.is_scalar()) return refuse(node);
    const auto parts = split(node.text, '.');
    if (parts.size() > 2 || !is_name(parts[0]) || parts.back().empty()) return refuse(node);
    source.stage = parts[0];
    if (parts.size() == 2) source.tensor = parts[1];
    return true;
  }

  bool source(const YamlNode& node, SourceSpec& source) {
    if (!node.is_map()) return name(node, source);
    const YamlEntry* stage = node.find("stage");
    if (stage == nullptr) return refuse(node);
    bool good = true;
    read_.each(node, KeyScope::source, [&](const YamlEntry& entry, const KeySpec& key) {
      if (key.name == "stage") good = name(entry.value, source);
      if (key.name == "batch") {
        source.batch = read_.whole(entry, key);
        source.batch_broken = !source.batch;
      }
      if (key.name == "max_wait") source.max_wait_ns = read_.duration(entry, key);
    });
    return good && !stage->value.is_null();
  }

  bool add(const YamlNode& node, const YamlEntry* port) {
    SourceSpec spec;
    if (port != nullptr) {
      if (!is_name(port->key)) {
        read_.error(port->key_span,
                    concat("`from`: ", quote(port->key), " is not a valid port name"),
                    {"a name has letters, digits, _ and -, and begins with a letter"});
        return false;
      }
      spec.port = Marked<std::string>{port->key, port->key_span};
    }
    if (!source(node, spec)) return false;
    list.push_back(std::move(spec));
    return true;
  }

  std::vector<SourceSpec> list;

 private:
  bool refuse(const YamlNode& node) {
    std::vector<std::string> help{std::string(kSourceHelp)};
    if (node.text.find(',') != node.text.npos)
      help = {concat("write several sources as a list: `from: [", node.text, "]`")};
    read_.error(node.span, concat("`from`: expected a source, found ", describe(node)),
                std::move(help));
    return false;
  }

  SpecReader& read_;
};

}  // namespace

std::optional<std::vector<SourceSpec>> parse_sources(const YamlEntry& from, SpecReader& read) {
  SourceParser parser(read);
  const YamlNode& value = from.value;
  bool good = true;
  if (value.is_list()) {
    for (const YamlNode& item : value.items) good = parser.add(item, nullptr) && good;
  } else if (value.is_map() && value.find("stage") == nullptr) {
    for (const YamlEntry& port : value.entries) good = parser.add(port.value, &port) && good;
  } else {
    good = parser.add(value, nullptr);
  }
  if (good && parser.list.size() > kSourcesMax) {
    read.error(from.key_span, concat("`from`: more than ", kSourcesMax, " sources"));
    good = false;
  }
  if (good && parser.list.empty()) {
    read.error(value.span, "`from`: expected at least one source", {std::string(kSourceHelp)});
    good = false;
  }
  if (!good) return std::nullopt;
  return std::move(parser.list);
}

}  // namespace brigade
