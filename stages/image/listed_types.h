#pragma once

// Lists in which each entry is a name, or one name with its parameters:
// `[random_invert, {random_posterize: {bits: 4}}]`. A table of rows has
// the names and the parameters of each. Pure functions.

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <brigade/contract.h>

namespace brigade {

/// A row: what an entry may be called.
struct ListedType {
  std::string name;
  std::string help;  ///< one line
  std::vector<ParamSpec> params;
  std::function<std::shared_ptr<void>()> make_params;
};

/// `table`: name, help and parameters.
template <class P>
ListedType listed_type(const Contract<P>& table) {
  const StageContract& row = table.erased();
  return {row.type, row.help, row.params, row.make_params};
}

/// As written.
struct ListedEntry {
  std::string name;
  ParamValue params;  ///< a map of those that were given; null: none
  friend bool operator==(const ListedEntry&, const ListedEntry&) = default;
};

/// For messages.
struct ListExample {
  std::string_view what;         ///< `operations`
  std::string_view name;         ///< `random_invert`
  std::string_view with_params;  ///< `{random_posterize: {bits: 4}}`
};
/// `check`: whether there is such an entry. Errors name the item.
Result<std::vector<ListedEntry>> parse_listed(
    const ParamValue& value, const ListExample& example,
    const std::function<Result<void>(const ListedEntry&)>& check);
ParamValue print_listed(const std::vector<ListedEntry>& entries);

/// Null when there is none of that name.
template <class Type>
const Type* find_listed(const std::vector<Type>& types, std::string_view name) {
  for (const Type& type : types)
    if (type.name == name) return &type;
  return nullptr;
}
/// `there is no operation "random_invrt"; did you mean random_invert?`
Error unknown_listed(std::string_view what, std::string_view name,
                     const std::vector<std::string>& names);
template <class Type>
std::vector<std::string> listed_names(const std::vector<Type>& types) {
  std::vector<std::string> names;
  for (const Type& type : types) names.push_back(type.name);
  return names;
}

/// A struct of the row's parameters, set to what was given.
Result<std::shared_ptr<void>> params_of(const ListedType& type, const ParamValue& given);

/// What the row's `make` makes of an entry. `what`: "operation". Errors name the entry.
template <class Type>
auto make_listed(const std::vector<Type>& types, const ListedEntry& entry, std::string_view what) {
  using Made = decltype(types.front().make(nullptr));
  const Type* const type = find_listed(types, entry.name);
  if (type == nullptr) return Made(unknown_listed(what, entry.name, listed_names(types)));
  const auto params = params_of(*type, entry.params);
  if (!params) return Made(params.error().within(entry.name));
  auto made = type->make(params->get());
  return made ? std::move(made) : Made(made.error().within(entry.name));
}

/// `operation 2, clahe: ...`: of the entry of number `i`, from 0.
BRIGADE_API Error in_listed(std::string_view what, const std::vector<ListedEntry>& entries,
                            std::size_t i, const Error& error);

}  // namespace brigade
