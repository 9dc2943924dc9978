#include "pipeline/config/language/key_text.h"

#include <charconv>
#include <chrono>
#include <utility>

#include <brigade/text.h>
#include "base/units.h"
#include "pipeline/config/language/subset_parser.h"
#include "pipeline/config/language/weights_parser.h"
#include "pipeline/config/yaml/yaml_writer.h"

namespace brigade {
namespace {

constexpr std::uint64_t kUnboundedFrom = 1ull << 31;  // a limit that nobody meets is not told

using enum KeyScope;
using enum KeyType;

}  // namespace

std::string key_takes(const KeySpec& key) {
  const auto whole_number = [&key] {
    if (key.minimum == key.maximum) return concat(key.minimum);
    if (key.maximum >= kUnboundedFrom) return concat("a whole number of at least ", key.minimum);
    return concat("a whole number from ", key.minimum, " to ", key.maximum);
  };
  const auto time = [](std::uint64_t ns) {
    return print_duration(std::chrono::nanoseconds(static_cast<std::int64_t>(ns)));
  };
  switch (key.type) {
    case flag:
      return "true or false";
    case whole:
      return whole_number();
    case whole_auto:
      return concat(whole_number(), " or auto");
    case KeyType::text:
      return "text";
    case KeyType::name:
      return "a name";
    case names:
      return "a name or a list of names";
    case path:
      return "a path";
    case size:
      return concat("a size of at least ", print_size(key.minimum), " such as 64MiB");
    case duration:
      return concat("a duration from ", time(key.minimum), " to ", time(key.maximum));
    case choice:
      return join(value_names(key.scope, key.name), ", ", " or ");
    case mapping:
      return "a mapping";
    case special:
      return std::string(key.takes);
  }
  return "";
}

std::string key_path(const KeySpec& key) {
  if (key.scope == top || key.scope == KeyScope::stage || key.scope == source)
    return std::string(key.name);
  return concat(scope_name(key.scope), ".", key.name);
}

std::string scope_text(KeyScope scope) {
  if (scope == top) return "at the top level";
  if (scope == KeyScope::stage || scope == source) return concat("of a ", scope_name(scope));
  return concat("in `", scope_name(scope), ":`");
}

std::string plan_field_name(const KeySpec& key) {
  if (!key.plan_name.empty()) return std::string(key.plan_name);
  return concat(key.name, key.type == duration ? "_ns" : "");
}

namespace {

// Without an exponent.
std::string percent_text(double percent) {
  char text[400];
  const auto end = std::to_chars(text, text + sizeof text, percent, std::chars_format::fixed).ptr;
  return concat(std::string_view(text, static_cast<std::size_t>(end - text)), "%");
}

template <class Keys>
YamlNode print_mapping(const Keys& keys) {
  YamlNode map = YamlNode::map();
  each_key(const_cast<Keys&>(keys), [&](const KeySpec& key, auto& value) {  // which only reads
    map.entries.push_back({std::string(key.name), {}, print_key(key, &value)});
  });
  return map;
}

struct Printer {
  const KeySpec& key;

  template <class Value>
  YamlNode choice(Value value) const {
    return YamlNode::scalar(
        std::string(value_names(key.scope, key.name)[static_cast<std::size_t>(value)]));
  }
  YamlNode number(std::uint64_t value) const {
    if (key.type == KeyType::whole_auto && value == 0 && key.minimum > 0)
      return YamlNode::scalar("auto");
    if (value < key.minimum) return {};
    return YamlNode::scalar(key.type == KeyType::size ? print_size(value) : concat(value));
  }

  YamlNode operator()(const bool* value) const {
    if (key.type == KeyType::choice) return choice(*value);
    return YamlNode::scalar(*value ? "true" : "false");
  }
  YamlNode operator()(const int* value) const { return number(static_cast<std::uint64_t>(*value)); }
  YamlNode operator()(const std::uint64_t* value) const { return number(*value); }
  YamlNode operator()(const std::optional<std::uint64_t>* value) const {
    return *value ? number(**value) : YamlNode();
  }
  YamlNode operator()(const std::int64_t* value) const {
    return YamlNode::scalar(print_duration(std::chrono::nanoseconds(*value)));
  }
  YamlNode operator()(const Uneven* value) const { return choice(*value); }
  YamlNode operator()(const Pin* value) const { return choice(*value); }
  YamlNode operator()(const Take* value) const { return choice(*value); }
  YamlNode operator()(const RestartSpec::Policy* value) const { return choice(*value); }

  YamlNode operator()(const std::string* value) const {
    return value->empty() ? YamlNode() : YamlNode::scalar(quote_dollars(*value));
  }
  YamlNode operator()(const KeyTexts* value) const {
    YamlNode map = YamlNode::map();
    for (const auto& [name, text] : *value)
      map.entries.push_back({name, {}, YamlNode::scalar(quote_dollars(text))});
    return value->empty() ? YamlNode() : map;
  }
  YamlNode operator()(const std::vector<int>* value) const {
    YamlNode list = YamlNode::list();
    for (const int item : *value) list.items.push_back(YamlNode::scalar(concat(item)));
    return value->empty() ? YamlNode() : list;
  }

  YamlNode operator()(const SampleLimit* value) const {
    return value->any() ? YamlNode::scalar(limit_text(*value)) : YamlNode();
  }
  YamlNode operator()(const Split* value) const {
    if (value->shares.empty()) return {};
    YamlNode map = YamlNode::map();
    for (const SplitShare& one : value->shares)
      map.entries.push_back({one.name, {}, YamlNode::scalar(print_share(one.share))});
    map.entries.push_back({"seed", {}, YamlNode::scalar(concat(value->seed))});
    return map;
  }
  YamlNode operator()(const Weights* value) const {
    if (value->classes.empty())
      return value->any() ? YamlNode::scalar(quote_dollars(weights_text(*value))) : YamlNode();
    YamlNode map = YamlNode::map();
    for (const auto& [name, weight] : value->classes)
      map.entries.push_back({name, {}, YamlNode::scalar(print_number(weight))});
    return map;
  }
  YamlNode operator()(const Mix* value) const {
    YamlNode map = YamlNode::map();
    for (const auto& [name, share] : value->shares)
      map.entries.push_back({name, {}, YamlNode::scalar(print_number(share))});
    return value->any() ? map : YamlNode();
  }
  YamlNode operator()(const RepeatFactor* value) const {
    return value->below != 0 ? YamlNode::scalar(print_share(value->below)) : YamlNode();
  }
  YamlNode operator()(const OnError* value) const {
    if (!value->skip) return YamlNode::scalar("stop");
    YamlNode map = YamlNode::map();
    map.entries.push_back(
        {"skip",
         {},
         YamlNode::scalar(value->percent_max > 0 ? percent_text(value->percent_max)
                                                 : concat(value->count_max))});
    return map;
  }
  YamlNode operator()(const RestartSpec* value) const {
    YamlNode map = print_mapping(*value);
    const bool alone = value->policy == RestartSpec::Policy::never && !value->degrade;
    return alone ? std::move(map.entries.front().value) : map;
  }
  YamlNode operator()(const StallSpec* value) const {
    YamlNode map = print_mapping(*value);
    return value->abort ? map : std::move(map.entries.front().value);
  }
};

}  // namespace

YamlNode print_key(const KeySpec& key, KeyField field) { return std::visit(Printer{key}, field); }

std::string key_default(const KeySpec& key) {
  if (!key.default_text.empty()) return std::string(key.default_text);
  return std::visit(
      [&key]<class Find>(Find find) {
        if constexpr (std::is_same_v<Find, std::monostate>) {
          return std::string();
        } else {
          return [&]<class Keys>(KeyField (*field)(Keys&)) {
            Keys keys;
            return print_key(key, field(keys)).text;
          }(find);
        }
      },
      key.find_field);
}

}  // namespace brigade
