#include "stages/image/listed_types.h"

#include <algorithm>

#include <brigade/text.h>

namespace brigade {
namespace {

Error unknown_param(const ListedType& type, std::string_view name) {
  std::vector<std::string> names;
  for (const ParamSpec& spec : type.params) names.push_back(spec.name);
  return Error{concat("has no parameter ", quote(name), "; it has ",
                      names.empty() ? "none" : join(names, ", "))};
}

Result<ListedEntry> parse_entry(const ParamValue& value, std::string_view example) {
  if (value.kind == ParamValue::Kind::scalar) return ListedEntry{value.text, {}};
  if (value.kind != ParamValue::Kind::map || value.entries.size() != 1)
    return Error{concat("expected a name, or a name with its parameters, such as ", example)};
  const auto& [name, params] = value.entries.front();
  const bool none = params.kind == ParamValue::Kind::null;
  if (!none && params.kind != ParamValue::Kind::map)
    return Error{concat(name, ": expected its parameters as a map, such as ", example)};
  return ListedEntry{name, params};
}

}  // namespace

Result<std::vector<ListedEntry>> parse_listed(
    const ParamValue& value, const ListExample& example,
    const std::function<Result<void>(const ListedEntry&)>& check) {
  if (value.kind != ParamValue::Kind::list)
    return Error{concat("expected a list of ", example.what, " such as [", example.name, ", ",
                        example.with_params, "]")};
  std::vector<ListedEntry> entries;
  for (std::size_t i = 0; i < value.items.size(); ++i) {
    const std::string item = concat("item ", i + 1);
    auto entry = parse_entry(value.items[i], example.with_params);
    if (!entry) return entry.error().within(item);
    if (const auto checked = check(*entry); !checked) return checked.error().within(item);
    entries.push_back(std::move(*entry));
  }
  return entries;
}

ParamValue print_listed(const std::vector<ListedEntry>& entries) {
  ParamValue out;
  out.kind = ParamValue::Kind::list;
  for (const auto& [name, params] : entries) {
    ParamValue item = ParamValue::scalar(name);
    if (params.kind == ParamValue::Kind::map) {
      item = {ParamValue::Kind::map, {}, {}, {}};
      item.entries.emplace_back(name, params);
    }
    out.items.push_back(std::move(item));
  }
  return out;
}

Error unknown_listed(std::string_view what, std::string_view name,
                     const std::vector<std::string>& names) {
  if (const auto meant = did_you_mean(name, names))
    return Error{concat("unknown ", what, " ", quote(name), "; did you mean ", *meant, "?")};
  return Error{concat("unknown ", what, " ", quote(name), "; expected one of ", join(names, ", "))};
}

Error in_listed(std::string_view what, const std::vector<ListedEntry>& entries, std::size_t i,
                const Error& error) {
  return error.within(concat(what, " ", i + 1, ", ", entries[i].name));
}

Result<std::shared_ptr<void>> params_of(const ListedType& type, const ParamValue& given) {
  const std::shared_ptr<void> params = type.make_params();
  for (const auto& entry : given.entries) {
    const std::string& name = entry.first;
    const auto spec = std::find_if(type.params.begin(), type.params.end(),
                                   [&](const ParamSpec& row) { return row.name == name; });
    if (spec == type.params.end()) return unknown_param(type, name);
    if (auto set = set_param(*spec, params.get(), entry.second); !set)
      return set.error().within(name);
  }
  for (const ParamSpec& spec : type.params) {
    const bool is_given = std::any_of(given.entries.begin(), given.entries.end(),
                                      [&](const auto& entry) { return entry.first == spec.name; });
    if (spec.required && !is_given) return Error{concat("needs ", spec.name, ": ", spec.help)};
  }
  return params;
}

}  // namespace brigade
