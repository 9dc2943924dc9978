#pragma once

// THE table of the language: every key, where it stands, what it takes, its default, unit and help.
// The parser, the messages, `--help`, the docs and the JSON schema are made from it. A key or value
// with `built == false` is part of the language (it is parsed and checked), but a graph that uses
// it is refused until what it asks for exists; building it flips the flag here and nowhere else.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace brigade {

/// Which mapping a key stands in.
enum class KeyScope : std::uint8_t {
  top,         ///< the file itself
  checkpoint,  ///< checkpoint: {...}
  shard,       ///< shard: {...}
  stage,       ///< stages: {NAME: {...}}
  source,      ///< from: {stage: ..., ...}
  on_error,    ///< on_error: {...}
  restart,     ///< restart: {...}
  stall        ///< stall_timeout: {...}
};
inline constexpr int kKeyScopes = 8;

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
  choice,   ///< one of the table of values
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

struct KeySpec {
  KeyScope scope = KeyScope::top;
  std::string_view name;
  KeyType type = KeyType::text;
  std::string_view takes;          ///< of KeyType::special: "a source, a list of sources, ..."
  std::string_view default_value;  ///< as one would write it; "" where there is none
  std::string_view unit;           ///< of a number: "samples", "threads"
  std::string_view help;           ///< one line
  std::uint64_t minimum = 0;       ///< of sizes in bytes, of durations in nanoseconds
  std::uint64_t maximum = 0;
  std::uint8_t users = kAllStages;  ///< of stage keys
  bool built = true;
};

/// A value that a key of KeyType::choice (or one that mixes names with other forms) may have.
struct ValueSpec {
  KeyScope scope = KeyScope::top;
  std::string_view key;
  std::string_view value;
  std::string_view help;
  bool built = true;
};

std::span<const KeySpec> key_table();
std::span<const ValueSpec> value_table();

/// Null when the scope has no such key.
const KeySpec* find_key(KeyScope scope, std::string_view name);
const ValueSpec* find_value(KeyScope scope, std::string_view key, std::string_view value);

/// Names for suggestions, in the order of the table.
std::vector<std::string_view> key_names(KeyScope scope);
std::vector<std::string_view> value_names(KeyScope scope, std::string_view key);

/// What a key takes, for messages: "a whole number from 1 to 256", "true or false".
std::string key_takes(const KeySpec& key);

/// "batch", "restart.policy": the key and the mapping it stands in, if that has a key.
std::string key_path(const KeySpec& key);

/// Where a key stands, for messages: "of a stage", "at the top level", "in `restart:`".
std::string_view scope_text(KeyScope scope);

inline constexpr std::uint64_t kStagesMax = 256;  ///< stages of a graph, replicas of a stage
inline constexpr std::uint64_t kSourcesMax = 64;  ///< sources of a stage
inline constexpr std::uint64_t kThreadsMax = 1024;
/// A year in nanoseconds: what the runtime adds to its clock, or multiplies by the few times it
/// waits (kStagesMax at most), stays far below 2^63.
inline constexpr std::uint64_t kDurationMax = 8760ull * 3600 * 1'000'000'000;
static_assert(kDurationMax < (1ull << 62) / (kStagesMax / 2));
inline constexpr std::uint64_t kBatchMax = 1 << 20;       ///< samples; kPlanMultipleMax asserts it
inline constexpr std::uint64_t kNumbersMax = 1ull << 47;  ///< samples in a run have 48-bit numbers

}  // namespace brigade
