#pragma once

// The contents of a YAML text, with the place of every key and value: a separate tree type, so
// that no code after yaml_reader depends on the library. Plain data, at most kYamlDepthMax deep.

#include <string>
#include <string_view>
#include <vector>

#include <brigade/params.h>
#include "pipeline/config/yaml/source_text.h"

namespace brigade {

inline constexpr int kYamlDepthMax = 64;               ///< levels of lists and mappings
inline constexpr std::size_t kYamlNodesMax = 20'000;   ///< values of one text, aliases expanded
inline constexpr std::size_t kYamlBytesMax = 4 << 20;  ///< text of them, aliases and variables too

struct YamlEntry;

struct YamlNode {
  enum class Kind : std::uint8_t { null, scalar, list, map } kind = Kind::null;
  std::string text;     ///< of a scalar
  bool quoted = false;  ///< a scalar in quotes: "null" is text, null is no value
  Span span;            ///< of the value; of its key where there is no value
  /// Whose folder a relative path in `text` is relative to: a file, or -1: the working directory.
  int origin = -1;
  std::vector<YamlNode> items;     ///< of a list
  std::vector<YamlEntry> entries;  ///< of a map; keys are unique

  // Below, where YamlEntry is complete.
  YamlNode();
  ~YamlNode();
  YamlNode(const YamlNode&);
  YamlNode(YamlNode&&) noexcept;
  YamlNode& operator=(const YamlNode&);
  YamlNode& operator=(YamlNode&&) noexcept;

  bool is_null() const { return kind == Kind::null; }
  bool is_scalar() const { return kind == Kind::scalar; }
  bool is_list() const { return kind == Kind::list; }
  bool is_map() const { return kind == Kind::map; }

  const YamlEntry* find(std::string_view key) const;
  YamlEntry* find(std::string_view key);

  static YamlNode scalar(std::string text);
  static YamlNode map() { return of_kind(Kind::map); }
  static YamlNode list() { return of_kind(Kind::list); }
  static YamlNode of_kind(Kind kind);
};

struct YamlEntry {
  std::string key;
  Span key_span;
  YamlNode value;
};

inline YamlNode::YamlNode() = default;
inline YamlNode::~YamlNode() = default;
inline YamlNode::YamlNode(const YamlNode&) = default;
inline YamlNode::YamlNode(YamlNode&&) noexcept = default;
inline YamlNode& YamlNode::operator=(const YamlNode&) = default;
inline YamlNode& YamlNode::operator=(YamlNode&&) noexcept = default;

/// "a mapping", "a list", "text \"abc\"", "nothing": for messages.
std::string describe(const YamlNode& node);

/// As a stage's parameters see it.
ParamValue to_param_value(const YamlNode& node);

}  // namespace brigade
