#include "pipeline/config/language/key_table.h"

#include <utility>

#include <brigade/text.h>
#include "pipeline/config/language/subset_parser.h"

namespace brigade {
namespace {

constexpr std::uint64_t kSeedMax = ~0ull;
constexpr std::uint64_t kCpuMax = 1023;  // what a cpu_set_t holds
constexpr std::uint64_t kMillisecond = 1'000'000;
constexpr std::uint64_t kMemoryMin = 1 << 20;
constexpr std::uint64_t kMemoryMax = (1ull << 63) - 1;
constexpr std::uint64_t kHoldMax = 1024;  // each has memory

using enum KeyScope;
using enum KeyType;

template <class Keys, class Value>
Keys owner_of(Value Keys::*);

template <auto Member>
KeyField member(decltype(owner_of(Member))& keys) {
  return &(keys.*Member);
}

// A row of key_table.inc, written as a sentence.
struct Row {
  KeySpec key;

  template <class T>
  constexpr Row with(T KeySpec::*member, T value) const {
    Row out = *this;
    out.key.*member = value;
    return out;
  }

  constexpr operator KeySpec() const { return key; }  // NOLINT: implicit
  constexpr Row takes(std::string_view what) const { return with(&KeySpec::takes, what); }
  constexpr Row otherwise(std::string_view value) const {
    return with(&KeySpec::default_text, value);
  }
  template <auto Member>
  constexpr Row of_member() const {
    return with(&KeySpec::find_field, FindField(&member<Member>));
  }
  constexpr Row in_plan(std::string_view name) const { return with(&KeySpec::plan_name, name); }
  constexpr Row counts(std::string_view unit) const { return with(&KeySpec::unit, unit); }
  constexpr Row range(std::uint64_t from, std::uint64_t to) const {
    return with(&KeySpec::minimum, from).with(&KeySpec::maximum, to);
  }
  constexpr Row of(std::uint8_t users) const { return with(&KeySpec::users, users); }
  constexpr Row of_processes() const { return with(&KeySpec::of_processes, true); }
};

constexpr Row row(KeyScope scope, std::string_view name, KeyType type, std::string_view help) {
  Row out;
  out.key.scope = scope;
  out.key.name = name;
  out.key.type = type;
  out.key.help = help;
  return out;
}

constexpr KeySpec kKeyTable[] = {
#define BRIGADE_ROW(...) __VA_ARGS__,
#define BRIGADE_KEY(Keys, Type, member, initial, ...) (__VA_ARGS__).of_member<&Keys::member>(),
#include "pipeline/config/language/key_table.inc"
#undef BRIGADE_KEY
#undef BRIGADE_ROW
};

}  // namespace

std::span<const KeySpec> key_table() { return kKeyTable; }

const KeySpec* find_key(KeyScope scope, std::string_view name) {
  for (const KeySpec& key : kKeyTable)
    if (key.scope == scope && key.name == name) return &key;
  return nullptr;
}

std::string_view renamed_key(KeyScope scope, std::string_view name) {
  constexpr std::pair<std::string_view, std::string_view> kRenamed[] = {
      {"rows", "chunk"}, {"state", "shared"}, {"outputs", "tensors"}};
  for (const auto& [before, now] : kRenamed)
    if (before == name && find_key(scope, now) != nullptr) return now;
  return {};
}

std::vector<std::string_view> key_names(KeyScope scope) {
  std::vector<std::string_view> names;
  for (const KeySpec& key : kKeyTable)
    if (key.scope == scope) names.push_back(key.name);
  return names;
}

}  // namespace brigade
