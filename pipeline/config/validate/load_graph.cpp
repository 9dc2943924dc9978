#include "pipeline/config/validate/load_graph.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include <brigade/text.h>
#include "pipeline/config/language/class_source.h"
#include "pipeline/config/language/program_reads.h"
#include "pipeline/config/language/spec_parser.h"
#include "pipeline/config/validate/validate.h"
#include "pipeline/config/yaml/merge.h"
#include "pipeline/config/yaml/yaml_reader.h"

namespace brigade {

namespace {

std::string folder_of(const std::string& path, const std::string& working_directory) {
  const std::size_t slash = path.rfind('/');
  if (slash == path.npos) return working_directory;
  const std::string folder = path.substr(0, std::max<std::size_t>(slash, 1));
  return path.starts_with('/') ? folder : concat(working_directory, "/", folder);
}

// Files with mistakes in their YAML are left out, so that the others' are found too; what would
// follow from the gap is not.
bool read_texts(LoadedGraph& loaded) {
  bool whole = true;
  for (int file = 0; file < loaded.source.count(); ++file) {
    if (loaded.source.file(file).is_setting) continue;
    auto tree = read_yaml(loaded.source, file, loaded.diagnostics);
    whole = whole && tree.has_value();
    if (!tree) continue;
    if (file == 0) {
      loaded.tree = std::move(*tree);
    } else if (tree->is_map()) {
      merge_tree(loaded.tree, std::move(*tree));
    } else if (!tree->is_null()) {
      loaded.diagnostics.error(tree->span, concat("expected a mapping, found ", describe(*tree)));
    }
  }
  return whole;
}

void add_settings(LoadedGraph& loaded, const LoadOptions& options) {
  for (const std::string& set : options.sets) {
    auto text = trim(set).empty() ? Result<std::string>(set) : check_source(set);
    if (!text || text->find('\n') != text->npos) {
      loaded.diagnostics.file_error("--set",
                                    text ? "has more than one line" : text.error().message);
      continue;
    }
    const int file =
        loaded.source.add({"--set", std::move(*text), options.working_directory, true});
    apply_setting(loaded.source, file, loaded.tree, loaded.diagnostics);
  }
}

void check(LoadedGraph& loaded, const LoadOptions& options) {
  if (!read_texts(loaded)) return;
  add_settings(loaded, options);
  expand_variables(loaded.tree, options.environment, loaded.source, loaded.diagnostics);
  GraphSpec spec = parse_graph(loaded.tree, loaded.diagnostics);
  spec.class_source = first_class_source(spec);
  if (options.read) loaded.read = *options.read;
  if (!options.read && options.may_lack_consumers) loaded.read = left_to_program(spec);
  if (options.read || !loaded.read.empty())
    spec = read_by_program(std::move(spec), loaded.read, loaded.diagnostics);
  loaded.graph = validate_graph(spec,
                                {loaded.source, options.types, options.metadata,
                                 options.working_directory, options.plugins, options.describer},
                                loaded.diagnostics);
  const auto found =
      resolve_shard(spec.shard, options.environment, options.rank, loaded.diagnostics);
  if (loaded.graph && found) loaded.graph->shard = found->shard;
  if (found) loaded.ranks = found->origin;
  if (!found) loaded.graph.reset();
  if (!loaded.graph || !options.limit) return;
  for (ValidStage& stage : loaded.graph->stages) {
    if (!stage.type->indexed) continue;
    for (ValidStage& part : stage.parts) part.limit = *options.limit;
    if (stage.parts.empty()) stage.limit = *options.limit;
    stage.draws = stage.parts.empty() ? 0 : options.limit->samples;
  }
}

void add_texts(LoadedGraph& loaded, std::vector<SourceFile> texts, const LoadOptions& options) {
  for (SourceFile& text : texts) {
    auto checked = check_source(std::move(text.text));
    if (!checked) {
      loaded.diagnostics.file_error(text.name, checked.error().message);
      continue;
    }
    text.text = std::move(*checked);
    if (text.folder.empty()) text.folder = options.working_directory;
    loaded.source.add(std::move(text));
  }
}

}  // namespace

std::string LoadedGraph::messages() const { return diagnostics.render(source); }

LoadedGraph load_graph(std::vector<SourceFile> texts, const LoadOptions& options) {
  LoadedGraph loaded;
  add_texts(loaded, std::move(texts), options);
  if (loaded.diagnostics.ok()) check(loaded, options);
  return loaded;
}

LoadedGraph load_graph(const LoadOptions& options) {
  LoadedGraph loaded;
  for (const std::string& path : options.files) {
    const std::string full =
        path.starts_with('/') ? path : concat(options.working_directory, "/", path);
    auto text = read_source(full);
    if (text) {
      loaded.source.add({path, std::move(*text), folder_of(path, options.working_directory)});
    } else {
      loaded.diagnostics.file_error(path, text.error().message);
    }
  }
  add_texts(loaded, options.texts, options);
  if (options.files.empty() && options.texts.empty())
    loaded.diagnostics.file_error("brigade", "expected a YAML file, found none");
  if (loaded.diagnostics.ok()) check(loaded, options);
  return loaded;
}

Environment process_environment() {
  return [](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());
    if (value == nullptr) return std::nullopt;
    return value;
  };
}

std::string process_working_directory() {
  std::string path(4096, '\0');
  if (::getcwd(path.data(), path.size()) == nullptr) return "/";
  path.resize(path.find('\0'));
  return path;
}

}  // namespace brigade
