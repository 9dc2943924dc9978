#pragma once

// The intermediate state of validate_graph(): one draft per stage,
// filled step by step. Included by the validate_*.cpp only.

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <brigade/text.h>
#include "pipeline/config/validate/validate.h"

namespace brigade {

/// `transform: python` and its like.
struct PythonStage {
  Span call;
  std::vector<std::string> target;  ///< an absolute file or a module, and a name in it
  std::chrono::nanoseconds timeout{};
};

struct Draft {
  const StageSpec* spec = nullptr;
  ValidStage stage;  ///< its sources count in the order of the text until the graph is assembled
  FileMetadata metadata;
  const StageTypes* plugin = nullptr;  ///< of the plugin it names, once that has been read
  std::vector<StageNumber> readers;
  std::vector<StageNumber> parts;        ///< of a mixture: what it draws from, by name
  std::vector<StageNumber> mixed_by;     ///< the mixtures that draw from it
  bool only_mixed = false;               ///< or only names classes: it does not run itself
  std::int64_t label_classes = 0;        ///< labels are 0 .. this - 1; 0: not known
  std::vector<std::string> label_names;  ///< of all labels there may be; none: not known
  std::optional<PythonStage> python;
  bool python_found = false;  ///< its file and its interpreter are there
  bool has_type = false;      ///< stage.type is set and fits the kind
  bool has_sources = false;   ///< every source is a stage of the graph
  bool has_params = false;
  bool has_outputs = false;  ///< stage.outputs are known
};

struct Validation {
  const GraphSpec& graph;
  const ValidateContext& context;
  Diagnostics& diagnostics;
  ByStage<Draft> drafts;           ///< in the order of the text
  std::vector<StageNumber> order;  ///< of drafts, sources before readers; cycles are left out
  std::map<std::string, Result<FileHeader>> metadata_read;
  std::vector<PluginTypes> plugins;  ///< those that could be read
  std::vector<ValidShared> shared;   ///< stages by their drafts until the graph is assembled

  Draft& at(StageNumber index) { return drafts[index]; }

  /// `stage "NAME": message`.
  void error(const Draft& draft, const Span& span, std::string_view message,
             std::vector<std::string> help = {}) {
    diagnostics.error(span, concat("stage ", quote(draft.spec->name.value), ": ", message),
                      std::move(help));
  }
  void warning(const Draft& draft, const Span& span, std::string_view message,
               std::vector<std::string> help = {}) {
    diagnostics.warning(span, concat("stage ", quote(draft.spec->name.value), ": ", message),
                        std::move(help));
  }
};

/// Where the stage says its type; its name where it does not.
inline const Span& type_span(const Draft& draft) {
  return draft.spec->types.empty() ? draft.spec->name.span : draft.spec->types.front().name.span;
}

/// At most `limit` names, quoted, for "there are ...".
std::string name_list(const std::vector<std::string>& names, std::size_t limit = 12);

/// An absolute path; a relative one is relative to the folder of the text it stands in.
std::string absolute_path(const Validation& validation, const std::string& path, int origin);

/// A file that will be written, the value of `key`: its folder must be there.
void check_written_file(Validation& validation, std::string_view key, const std::string& path,
                        const Span& span);

/// A mark as the graph carries it: settings have no file.
SourceMark graph_mark(const Validation& validation, const Span& span);

/// Whether it learns one model of labels below its parameter `classes`: the type that ships does.
/// What a plugin's consumers make of several sources, replicas or such a parameter is theirs.
inline bool is_classifier(const Draft& draft) {
  return draft.has_type && draft.stage.plugin.empty() &&
         draft.stage.type->contract.type == "torch_classifier";
}

void validate_exec(Validation& validation, Draft& draft);  ///< the program of `exec:`; its type
bool take_exec_params(Draft& draft);                       ///< its parameters, as JSON

bool is_python(const Draft& draft);
void validate_python(Validation& validation, Draft& draft);  ///< its file, its interpreter; type
void make_python_absolute(Draft& draft);                     ///< the paths among its parameters
/// What it writes for each sample that has one of these types; nothing: that was said.
std::optional<Ports> describe_python(Validation& validation, Draft& draft,
                                     const std::vector<Ports>& inputs);

void validate_plugins(Validation& validation);  ///< the files that plugin: names
void validate_types(Validation& validation);    ///< stage types, keys that the kind has
/// Where one list begins with the other, the numbers that both have are the same classes.
bool mean_the_same(const std::vector<std::string>& names, const std::vector<std::string>& other);
bool make_mixed_outputs(Validation& validation, Draft& mix);  ///< parts have the same ones
void mix_labels(Validation& validation, Draft& mix);          ///< and the same classes

void validate_mixes(Validation& validation);    ///< names in mix:, the keys of either
void validate_sources(Validation& validation);  ///< names in from:, joins, stages nobody reads
void validate_order(Validation& validation);    ///< cycles, joins that would wait for themselves
void validate_params(Validation& validation);   ///< parameters, files, metadata
void validate_ports(Validation& validation);    ///< what arrives fits; outputs; what passes
void validate_labels(Validation& validation);   ///< folders of classes, `classes:` below them
void validate_batches(Validation& validation);  ///< batch: of every edge
void validate_caches(Validation& validation);   ///< what is frozen above them

void place_on_device(Draft& draft);                   ///< which of its own outputs lie there
void validate_device_memory(Validation& validation);  ///< memory: device, its one reader
void validate_hugepages(Validation& validation);      ///< what may lie in huge pages

void validate_subsets(Validation& validation);   ///< split: and part:, the same wherever they stand
void validate_weights(Validation& validation);   ///< weights:, repeat_factor:, samples:
void validate_shared(Validation& validation);    ///< shared tensors, their files, who maps them
void validate_policies(Validation& validation);  ///< everything else, and sums over the graph

}  // namespace brigade
