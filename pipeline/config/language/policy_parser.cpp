#include "pipeline/config/language/policy_parser.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include <brigade/text.h>
#include "base/units.h"
#include "pipeline/config/language/key_reader.h"

namespace brigade {

namespace {

bool whole_number(std::string_view text, std::uint64_t& out) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return false;
  out = number;
  return true;
}

bool skip_value(const YamlNode& node, OnError& out) {
  out.skip = true;
  if (whole_number(node.text, out.count_max)) return out.count_max > 0;
  const auto fraction = parse_percentage(node.text);
  const auto number = strip_suffix(trim(node.text), "%");
  if (!fraction || *fraction <= 0 || !number) return false;
  const std::string_view digits = trim(*number);
  std::from_chars(digits.data(), digits.data() + digits.size(), out.percent_max);
  return true;
}

// "3" or "0-3".
bool add_cpus(std::string_view text, std::uint64_t maximum, std::vector<int>& out) {
  const auto parts = split(trim(text), '-');
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  if (parts.size() > 2 || !whole_number(parts[0], first) || !whole_number(parts.back(), last))
    return false;
  if (first > last || last > maximum) return false;
  for (std::uint64_t cpu = first; cpu <= last; ++cpu) out.push_back(static_cast<int>(cpu));
  return true;
}

}  // namespace

bool parse_on_error(const YamlEntry& entry, const KeySpec& key, SpecReader& read, OnError& out) {
  if (entry.value.is_scalar() && entry.value.text == "stop") {
    out = {};
    return true;
  }
  if (!entry.value.is_map()) {
    std::vector<std::string> help;
    if (entry.value.text == "skip") help.push_back("write a number: `on_error: {skip: 10}`");
    read.unexpected(entry, key, std::move(help));
    return false;
  }
  OnError given;
  bool good = false;
  read.each(entry.value, KeyScope::on_error, [&](const YamlEntry& inner, const KeySpec& spec) {
    good = inner.value.is_scalar() && skip_value(inner.value, given);
    if (!good) read.unexpected(inner, spec, {"for example `{skip: 10}` or `{skip: 0.1%}`"});
  });
  if (entry.value.entries.empty()) read.unexpected(entry, key);
  if (good) out = given;
  return good;
}

bool parse_restart(const YamlEntry& entry, const KeySpec& key, SpecReader& read, RestartSpec& out) {
  if (entry.value.is_map()) {
    read_keys(entry.value, KeyScope::restart, out, read);
    return true;
  }
  const KeySpec& policy = *find_key(KeyScope::restart, "policy");
  const std::string& text = entry.value.text;
  if (entry.value.is_scalar() && find_value(policy.scope, policy.name, text) != nullptr)
    return read_key(entry, policy, &out.policy, read);
  std::vector<std::string> help;
  if (const auto meant = did_you_mean(text, value_names(policy.scope, policy.name)))
    help.push_back(concat("did you mean \"", *meant, "\"?"));
  read.unexpected(entry, key, std::move(help));
  return false;
}

bool parse_stall(const YamlEntry& entry, const KeySpec& key, SpecReader& read, StallSpec& out) {
  if (entry.value.is_scalar()) return read_key(entry, key, &out.after_ns, read);
  if (!entry.value.is_map()) {
    read.unexpected(entry, key);
    return false;
  }
  read_keys(entry.value, KeyScope::stall, out, read);
  return true;
}

Given<CheckpointEvery> parse_every(const YamlEntry& entry, const KeySpec& key, SpecReader& read) {
  Marked<CheckpointEvery> out{{}, entry.value.span};
  if (!entry.value.is_scalar()) {
    read.unexpected(entry, key);
    return std::nullopt;
  }
  std::uint64_t& samples = out.value.samples;
  if (whole_number(entry.value.text, samples) && samples > 0 && samples <= kNumbersMax) return out;
  if (const auto time = parse_duration(entry.value.text); time && in_range(*time, key)) {
    out.value = {0, time->count()};
    return out;
  }
  read.unexpected(entry, key, {"for example `every: 100000` or `every: 10m`"});
  return std::nullopt;
}

Given<std::string> parse_device(const YamlEntry& entry, const KeySpec& key, SpecReader& read) {
  const std::string& text = entry.value.text;
  std::uint64_t number = 0;
  const auto index = strip_prefix(text, "cuda:");
  const bool known = text == "auto" || text == "cpu" || text == "cuda" || text == "host";
  if (entry.value.is_scalar() && (known || (index && whole_number(*index, number) && number < 64)))
    return Marked<std::string>{text, entry.value.span};
  std::vector<std::string> help;
  if (text == "gpu") help.push_back("did you mean \"cuda\"? `auto` uses a GPU if one is available");
  read.unexpected(entry, key, std::move(help));
  return std::nullopt;
}

bool parse_cpus(const YamlEntry& entry, const KeySpec& key, SpecReader& read,
                std::vector<int>& out) {
  std::vector<int> cpus;
  bool good = !entry.value.is_map();
  if (entry.value.is_scalar()) {
    const auto parts = split(entry.value.text, ',');
    for (const std::string_view part : parts) good = good && add_cpus(part, key.maximum, cpus);
  }
  for (const YamlNode& item : entry.value.items) {
    if (item.is_scalar() && add_cpus(item.text, key.maximum, cpus)) continue;
    read.unexpected({entry.key, entry.key_span, item}, key);
    return false;
  }
  if (!good || cpus.empty()) {
    read.unexpected(entry, key);
    return false;
  }
  std::sort(cpus.begin(), cpus.end());
  cpus.erase(std::unique(cpus.begin(), cpus.end()), cpus.end());
  out = std::move(cpus);
  return true;
}

bool parse_variables(const YamlEntry& entry, const KeySpec& key, SpecReader& read,
                     std::vector<std::pair<std::string, std::string>>& out) {
  out = read.texts(entry, key);
  bool good = entry.value.is_map();
  for (const YamlEntry& variable : entry.value.entries) {
    if (!variable.key.empty() && variable.key.find_first_of("= ") == std::string::npos) continue;
    read.error(variable.key_span,
               concat("`env`: ", quote(variable.key), " is not a valid variable name"));
    good = false;
  }
  return good;
}

}  // namespace brigade
