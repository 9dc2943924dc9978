#pragma once

// The table of the language, key_table.inc, as data: every key, its scope, its values, the member
// of key_values.h that holds it, its unit and help. The parser, the messages, `--help`, the docs,
// the JSON schema, `plan --yaml` and the plan's JSON are made from it: a plain key is a row there,
// and the code that it has an effect on. A key without a member (from, params, ...) has separate
// code in the parser and in effective_yaml.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "pipeline/config/language/key_values.h"

namespace brigade {

/// Which mapping a key stands in.
enum class KeyScope : std::uint8_t {
  top,         ///< the file itself
  checkpoint,  ///< checkpoint: {...}
  shard,       ///< shard: {...}
  shared,      ///< shared: {NAME: {...}}
  stage,       ///< stages: {NAME: {...}}
  source,      ///< from: {stage: ..., ...}
  on_error,    ///< on_error: {...}
  restart,     ///< restart: {...}
  stall        ///< stall_timeout: {...}
};
inline constexpr int kKeyScopes = 9;

/// What a key takes.
enum class KeyType : std::uint8_t {
  flag,        ///< true or false
  whole,       ///< a whole number from `minimum` to `maximum`
  whole_auto,  ///< the same, or auto
  text,
  name,   ///< letters, digits, _ and -
  names,  ///< one name or a list of them
  path,
  size,
  duration,
  choice,   ///< one of the table of values, which stand there in the order of the enum
  mapping,  ///< names of the user's own
  special   ///< described by `takes`
};

/// Kinds of stages that have a key: a set of bits.
enum KeyUsers : std::uint8_t {
  kIndexedProducers = 1,
  kStreamProducers = 2,
  kTransforms = 4,
  kConsumers = 8,
  kProducers = kIndexedProducers | kStreamProducers,
  kReaders = kTransforms | kConsumers,
  kWriters = kProducers | kTransforms,
  kAllStages = kWriters | kConsumers
};

/// The member that holds a key's value. Durations are std::int64_t, in nanoseconds; a choice is an
/// enum, or a bool if there are two.
using KeyField =
    std::variant<bool*, int*, std::uint64_t*, std::int64_t*, std::optional<std::uint64_t>*,
                 std::string*, std::vector<int>*, KeyTexts*, Uneven*, Pin*, Take*,
                 RestartSpec::Policy*, SampleLimit*, Split*, Weights*, RepeatFactor*, Mix*,
                 OnError*, RestartSpec*, StallSpec*>;

/// Finds it in one of the structs that hold keys.
template <class... Keys>
using FieldFinder = std::variant<std::monostate, KeyField (*)(Keys&)...>;
using FindField = FieldFinder<GraphKeys, GraphPlanningKeys, Shard, StageKeys, StagePlanningKeys,
                              SourceKeys, RestartSpec, StallSpec>;

template <class Keys>
concept HoldsKeys = std::is_constructible_v<FindField, KeyField (*)(Keys&)>;

struct KeySpec {
  KeyScope scope = KeyScope::top;
  std::string_view name;
  KeyType type = KeyType::text;
  std::string_view takes;  ///< of KeyType::special: "a source, a list of sources, ..."
  FindField find_field;
  std::string_view plan_name;     ///< in the plan's JSON; "": see plan_field_name(), key_text.h
  std::string_view default_text;  ///< where the member's initialiser does not say it: "all"
  std::string_view unit;          ///< of a number: "samples", "threads"
  std::string_view help;          ///< one line
  std::uint64_t minimum = 0;      ///< of sizes in bytes, of durations in nanoseconds
  std::uint64_t maximum = 0;
  std::uint8_t users = kAllStages;  ///< of stage keys
  /// Says how a stage's processes are: an application, which is none of them, has no such key.
  bool of_processes = false;
};

/// A value that a key of KeyType::choice (or one that mixes names with other forms) may have.
struct ValueSpec {
  KeyScope scope = KeyScope::top;
  std::string_view key;
  std::string_view value;
  std::string_view help;
};

std::span<const KeySpec> key_table();
std::span<const ValueSpec> value_table();

/// Null when the scope has no such key.
const KeySpec* find_key(KeyScope scope, std::string_view name);
const ValueSpec* find_value(KeyScope scope, std::string_view key, std::string_view value);

/// What a key of this name is called now, where it had another name in an earlier version: "chunk"
/// for "rows". Empty where it had none.
std::string_view renamed_key(KeyScope scope, std::string_view name);

/// Names for suggestions, in the order of the table.
std::vector<std::string_view> key_names(KeyScope scope);
std::vector<std::string_view> value_names(KeyScope scope, std::string_view key);

/// The key whose value the mapping is: "restart"; of a stage or a source what it is, "" at the top.
std::string_view scope_name(KeyScope scope);

/// The key's value in the one of `keys` that holds it; nothing when it is another struct, or none.
template <HoldsKeys... Keys>
std::optional<KeyField> find_field(const KeySpec& key, Keys&... keys) {
  std::optional<KeyField> field;
  const auto look_in = [&]<class Each>(Each& each) {
    if (const auto* find = std::get_if<KeyField (*)(Each&)>(&key.find_field)) field = (*find)(each);
  };
  (look_in(keys), ...);
  return field;
}

/// Calls visit(key, member) for every key that `keys` holds, in the order of the table.
template <HoldsKeys Keys, class Visit>
void each_key(Keys& keys, Visit&& visit) {
  for (const KeySpec& key : key_table())
    if (const auto field = find_field(key, keys))
      std::visit([&](auto* value) { visit(key, *value); }, *field);
}

inline constexpr std::uint64_t kStagesMax = 256;  ///< stages of a graph, replicas of a stage
inline constexpr std::uint64_t kSourcesMax = 64;  ///< sources of a stage
inline constexpr std::uint64_t kSharedMax = 64;   ///< shared tensors of a graph
inline constexpr std::uint64_t kThreadsMax = 1024;
/// A year in nanoseconds: what the runtime adds to its clock, or multiplies by the few times it
/// waits (kStagesMax at most), stays far below 2^63.
inline constexpr std::uint64_t kDurationMax = 8760ull * 3600 * 1'000'000'000;
static_assert(kDurationMax < (1ull << 62) / (kStagesMax / 2));
inline constexpr std::uint64_t kBatchMax = 1 << 20;       ///< samples; kPlanMultipleMax asserts it
inline constexpr std::uint64_t kNumbersMax = 1ull << 47;  ///< samples in a run have 48-bit numbers

}  // namespace brigade
