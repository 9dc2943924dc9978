#pragma once

// What the user wrote, key by key, with the place of each: no name resolved, no default filled in.
// Made only by parse_graph() (spec_parser.h) from the tree, checked and completed by
// validate_graph(). Plain data.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/config/valid_graph.h"
#include "pipeline/config/yaml_tree.h"

namespace brigade {

/// A value and where it stands.
template <class T>
struct Marked {
  T value{};
  Span span;
};

/// A key that was given, or not.
template <class T>
using Given = std::optional<Marked<T>>;

/// A path and the text it came from: relative ones are relative to that text's folder.
struct PathSpec {
  std::string path;
  int origin = -1;
};

/// One source of `from:`.
struct SourceSpec {
  Span span;                                ///< of the text that names the stage
  std::string stage;                        ///< name of the stage that is read
  std::string tensor;                       ///< of `stage.tensor`; empty: all
  std::optional<Marked<std::string>> port;  ///< in a mapping port -> source
  Given<std::uint64_t> batch;
  bool batch_broken = false;  ///< it was given, but could not be read: said already
  Given<std::int64_t> max_wait_ns;
};

/// One stage type of a stage, several in a chain.
struct TypeSpec {
  Marked<std::string> name;
  std::optional<YamlNode> params;  ///< a chain's own
};

struct StageSpec {
  Marked<std::string> name;
  std::optional<StageKind> kind;  ///< nothing when the text does not say it
  std::vector<TypeSpec> types;
  std::optional<Span> chain;  ///< of the list that `transform:` gave
  Given<PathSpec> plugin;
  Given<YamlNode> params;
  std::vector<SourceSpec> sources;
  std::optional<Span> from;  ///< of the key, where there is one
  Given<Join> join;
  Given<std::string> assign;
  Given<std::uint64_t> replicas;  ///< 0: auto
  Given<std::uint64_t> threads;
  Given<std::uint64_t> batch;
  Given<bool> drop_last;
  Given<std::uint64_t> rows;     ///< 0: auto
  Given<std::uint64_t> buffers;  ///< 0: auto
  Given<std::string> device;
  Given<OnError> on_error;
  Given<RestartSpec> restart;
  Given<std::uint64_t> poison_after;
  Given<StallSpec> stall;
  std::vector<int> cpus;
  std::vector<std::pair<std::string, std::string>> env;
  std::optional<std::vector<Marked<std::string>>> keep;
  std::optional<std::vector<Marked<std::string>>> drop;
  Given<std::string> random;
  Given<bool> shuffle;
  Given<std::uint64_t> seed;
  Given<std::uint64_t> limit;
  std::vector<std::pair<std::string_view, Span>>
      keys;  ///< all that were given, by the table's name
  std::vector<Marked<std::string>> unknown_keys;
  bool params_broken = false;  ///< `params:` is no mapping: said already

  bool has_key(std::string_view key) const {
    for (const auto& [given, span] : keys)
      if (given == key) return true;
    return false;
  }

  bool broken = false;  ///< its kind, types or sources could not be read: said already
};

/// `shard:`; nothing given is `auto`.
struct ShardSpec {
  static constexpr std::uint64_t kAuto = ~std::uint64_t{0};
  std::optional<Span> span;  ///< of the key, where there is one
  Given<std::uint64_t> rank;
  Given<std::uint64_t> world;
  Given<Uneven> uneven;
};

struct GraphSpec {
  Given<std::string> name;
  Given<std::uint64_t> seed;
  Given<std::uint64_t> epochs;
  Given<PathSpec> checkpoint_file;
  Given<CheckpointEvery> checkpoint_every;
  ShardSpec shard;
  Given<std::int64_t> drain_ns;
  Given<bool> oversubscribe;
  Given<std::uint64_t> memory_bytes_max;
  std::vector<StageSpec> stages;  ///< in the order of the text, names unique
  Span stages_span;               ///< of the key `stages:`, or the beginning of the text
};

}  // namespace brigade
