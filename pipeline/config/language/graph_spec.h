#pragma once

// The user's graph, key by key, with no name resolved. Missing plain keys have their defaults
// (key_values.h); StageSpec::keys lists the given keys and their places. Made only by parse_graph()
// (spec_parser.h) from the tree, checked and completed by validate_graph(). Plain data.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <brigade/stage_contract.h>
#include "pipeline/config/language/key_table.h"
#include "pipeline/config/yaml/yaml_tree.h"

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
  bool batch_of_one = false;  ///< where nobody says a size: of a program that reads any graph
  Given<std::int64_t> max_wait_ns;
};

/// One stage type of a stage, several in a fused stage.
struct TypeSpec {
  Marked<std::string> name;
  std::optional<YamlNode> params;  ///< a fused stage's own
};

/// The program of `exec:`, as written, and its arguments.
struct ExecSpec {
  Marked<PathSpec> program;
  std::vector<std::string> arguments;
};

/// A key that stands in the text, of those that the table has.
struct GivenKey {
  const KeySpec* key = nullptr;
  Span span;  ///< of the key
  Span value_span;
  bool good = false;  ///< its value could be read; if not, that was said already
};

struct StageSpec : StageKeys, StagePlanningKeys {
  Marked<std::string> name;
  std::optional<StageKind> kind;  ///< nothing when the text does not say it
  std::vector<TypeSpec> types;    ///< of `exec:` one, which is called so
  std::optional<ExecSpec> exec;
  std::optional<Span> fused;               ///< of the list that `transform:` gave
  std::vector<Marked<std::string>> mixed;  ///< the stages that `mix:` names
  Given<PathSpec> plugin;
  Given<YamlNode> params;
  std::vector<SourceSpec> sources;
  std::optional<Span> from;  ///< of the key, where there is one
  Given<Join> join;
  std::optional<std::vector<Marked<std::string>>> keep;
  std::optional<std::vector<Marked<std::string>>> drop;
  std::optional<Ports> tensors;
  std::vector<Marked<std::string>> shared;
  std::vector<GivenKey> keys;
  std::vector<Marked<std::string>> unknown_keys;
  bool only_names = false;      ///< it does not run: other sources have its classes
  bool tensors_broken = false;  ///< `tensors:` could not be read: said already
  bool params_broken = false;   ///< `params:` is no mapping: said already
  bool broken = false;          ///< its kind, types or sources could not be read: said already

  const GivenKey* find(std::string_view wanted) const {
    for (const GivenKey& given : keys)
      if (given.key->name == wanted) return &given;
    return nullptr;
  }
  /// Where the value of a plain key stands; null where there is none that could be read.
  const Span* given(std::string_view wanted) const {
    const GivenKey* key = find(wanted);
    return key != nullptr && key->good ? &key->value_span : nullptr;
  }
};

/// `shard:`; nothing given is `auto`.
struct ShardSpec {
  static constexpr std::uint64_t kAuto = ~std::uint64_t{0};
  std::optional<Span> span;  ///< of the key, where there is one
  Given<std::uint64_t> rank;
  Given<std::uint64_t> world;
  Uneven uneven = Uneven::pad;
};

/// One entry of `shared:`.
struct SharedSpec {
  Marked<std::string> name;
  TensorType type;
  Given<PathSpec> init;  ///< a word, or a file
  Given<PathSpec> save;
  Given<bool> own_part;
};

struct GraphSpec : GraphKeys, GraphPlanningKeys {
  Given<PathSpec> checkpoint_file;
  Given<CheckpointEvery> checkpoint_every;
  ShardSpec shard;
  std::vector<SharedSpec> shared;  ///< in the order of the text
  std::vector<StageSpec> stages;   ///< in the order of the text, names unique
  std::string class_source;        ///< the stage that numbers the classes of all; empty: none
  Span stages_span;                ///< of the key `stages:`, or the beginning of the text
};

}  // namespace brigade
