#pragma once

// Reads single values of the tree as the key table says: a whole
// number in its range, a duration, a list of names. A value that does
// not fit becomes a diagnostic and no value. Used by the parsers only.

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/config/language/graph_spec.h"
#include "pipeline/config/language/key_table.h"
#include "pipeline/config/yaml/diagnostics.h"

namespace brigade {

/// Letters, digits, _ and -, not beginning with a digit or -, at most kNameBytesMax: what stages,
/// ports and random streams may be called.
bool is_name(std::string_view text);
inline constexpr std::size_t kNameBytesMax = 64;

/// A mapping with producer:, transform:, consumer: or mix:.
bool looks_like_stage(const YamlNode& node);

/// Of a duration that is not negative, as parse_duration() gives it.
bool in_range(std::chrono::nanoseconds time, const KeySpec& key);

class SpecReader {
 public:
  /// `prefix` begins every message: `stage "augment": `, or nothing.
  SpecReader(std::string prefix, Diagnostics& diagnostics)
      : prefix_(std::move(prefix)), diagnostics_(&diagnostics) {}

  Given<std::uint64_t> whole(const YamlEntry& entry, const KeySpec& key);
  Given<std::uint64_t> whole_or_auto(const YamlEntry& entry, const KeySpec& key);  ///< 0: auto
  Given<bool> flag(const YamlEntry& entry, const KeySpec& key);
  Given<std::string> text(const YamlEntry& entry, const KeySpec& key);
  Given<std::string> name(const YamlEntry& entry, const KeySpec& key);
  /// Which of the key's values, in the order of the table.
  Given<std::size_t> choice(const YamlEntry& entry, const KeySpec& key);
  Given<PathSpec> path(const YamlEntry& entry, const KeySpec& key);
  Given<std::uint64_t> size(const YamlEntry& entry, const KeySpec& key);     ///< bytes
  Given<std::int64_t> duration(const YamlEntry& entry, const KeySpec& key);  ///< nanoseconds
  std::optional<std::vector<Marked<std::string>>> names(const YamlEntry& entry, const KeySpec& key);
  /// A mapping of names to scalars, or nothing there at all.
  std::vector<std::pair<std::string, std::string>> texts(const YamlEntry& entry,
                                                         const KeySpec& key);
  bool is_mapping(const YamlEntry& entry, const KeySpec& key);

  /// Calls `handle` for every key of the mapping that the scope has and that has a value, in the
  /// order of the text. Unknown keys go to `unknown`, or are reported; keys that are not built are
  /// handled and reported.
  void each(const YamlNode& map, KeyScope scope,
            const std::function<void(const YamlEntry&, const KeySpec&)>& handle,
            const std::function<void(const YamlEntry&)>& unknown = nullptr);

  void unknown_key(const YamlEntry& entry, KeyScope scope);
  /// `expected TAKES, found VALUE`, at the value.
  void unexpected(const YamlEntry& entry, const KeySpec& key, std::vector<std::string> help = {});
  void error(const Span& span, std::string message, std::vector<std::string> help = {});

  const std::string& prefix() const { return prefix_; }
  Diagnostics& diagnostics() { return *diagnostics_; }

 private:
  std::string prefix_;
  Diagnostics* diagnostics_;
};

}  // namespace brigade
