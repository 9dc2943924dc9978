#include "pipeline/config/policy_parser.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/text.h"
#include "base/units.h"

namespace brigade {

namespace {

bool whole_number(std::string_view text, std::uint64_t& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc{} && end == text.data() + text.size();
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

RestartSpec::Policy policy_of(std::string_view name) {
  if (name == "always") return RestartSpec::Policy::always;
  return name == "never" ? RestartSpec::Policy::never : RestartSpec::Policy::on_failure;
}

void restart_key(const YamlEntry& entry, const KeySpec& key, RestartSpec& out, SpecReader& read) {
  if (key.name == "policy") {
    if (const auto policy = read.choice(entry, key)) out.policy = policy_of(policy->value);
  } else if (key.name == "backoff") {
    if (const auto time = read.duration(entry, key)) out.backoff_ns = time->value;
  } else if (key.name == "burst") {
    if (const auto count = read.whole(entry, key)) out.burst = static_cast<int>(count->value);
  } else if (key.name == "within") {
    if (const auto time = read.duration(entry, key)) out.within_ns = time->value;
  } else if (key.name == "then") {
    if (const auto then = read.choice(entry, key)) out.degrade = then->value == "degrade";
  }
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

Given<OnError> parse_on_error(const YamlEntry& entry, const KeySpec& key, SpecReader& read) {
  Marked<OnError> out{{}, entry.value.span};
  if (entry.value.is_scalar() && entry.value.text == "stop") return out;
  if (!entry.value.is_map()) {
    std::vector<std::string> help;
    if (entry.value.text == "skip") help.push_back("say how many: `on_error: {skip: 10}`");
    read.unexpected(entry, key, std::move(help));
    return std::nullopt;
  }
  bool good = false;
  read.each(entry.value, KeyScope::on_error, [&](const YamlEntry& inner, const KeySpec& spec) {
    good = inner.value.is_scalar() && skip_value(inner.value, out.value);
    if (!good) read.unexpected(inner, spec, {"for example `{skip: 10}` or `{skip: 0.1%}`"});
  });
  if (entry.value.entries.empty()) read.unexpected(entry, key);
  if (!good) return std::nullopt;
  return out;
}

Given<RestartSpec> parse_restart(const YamlEntry& entry, const KeySpec& key, SpecReader& read) {
  Marked<RestartSpec> out{{}, entry.value.span};
  const KeySpec& policy = *find_key(KeyScope::restart, "policy");
  if (entry.value.is_scalar()) {
    if (find_value(KeyScope::restart, "policy", entry.value.text) == nullptr) {
      std::vector<std::string> help;
      if (const auto meant =
              did_you_mean(entry.value.text, value_names(KeyScope::restart, "policy")))
        help.push_back(concat("did you mean \"", *meant, "\"?"));
      read.unexpected(entry, key, std::move(help));
      return std::nullopt;
    }
    YamlEntry inner = entry;
    inner.key = policy.name;
    restart_key(inner, policy, out.value, read);
    return out;
  }
  if (!entry.value.is_map()) {
    read.unexpected(entry, key);
    return std::nullopt;
  }
  out.value.policy = policy_of(policy.default_value);
  read.each(entry.value, KeyScope::restart, [&](const YamlEntry& inner, const KeySpec& spec) {
    restart_key(inner, spec, out.value, read);
  });
  return out;
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

Given<StallSpec> parse_stall(const YamlEntry& entry, const KeySpec& key, SpecReader& read) {
  Marked<StallSpec> out{{}, entry.value.span};
  const auto after = [&](const YamlEntry& given, const KeySpec& spec) {
    if (const auto time = read.duration(given, spec)) out.value.after_ns = time->value;
  };
  if (entry.value.is_scalar()) {
    after(entry, key);
    return out;
  }
  if (!entry.value.is_map()) {
    read.unexpected(entry, key);
    return std::nullopt;
  }
  read.each(entry.value, KeyScope::stall, [&](const YamlEntry& inner, const KeySpec& spec) {
    if (spec.name == "after") after(inner, spec);
    if (spec.name != "then") return;
    if (const auto then = read.choice(inner, spec)) out.value.abort = then->value == "abort";
  });
  return out;
}

Given<std::string> parse_device(const YamlEntry& entry, const KeySpec& key, SpecReader& read) {
  const std::string& text = entry.value.text;
  std::uint64_t number = 0;
  const auto index = strip_prefix(text, "cuda:");
  const bool known = text == "auto" || text == "cpu" || text == "cuda";
  if (entry.value.is_scalar() && (known || (index && whole_number(*index, number) && number < 64)))
    return Marked<std::string>{text, entry.value.span};
  std::vector<std::string> help;
  if (text == "gpu") help.push_back("did you mean \"cuda\"? `auto` takes a GPU when there is one");
  read.unexpected(entry, key, std::move(help));
  return std::nullopt;
}

std::vector<int> parse_cpus(const YamlEntry& entry, const KeySpec& key, SpecReader& read) {
  std::vector<int> out;
  bool good = !entry.value.is_map();
  if (entry.value.is_scalar()) {
    const auto parts = split(entry.value.text, ',');
    for (const std::string_view part : parts) good = good && add_cpus(part, key.maximum, out);
  }
  for (const YamlNode& item : entry.value.items)
    good = good && item.is_scalar() && add_cpus(item.text, key.maximum, out);
  if (!good || out.empty()) {
    read.unexpected(entry, key);
    return {};
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

}  // namespace brigade
