#include "pipeline/config/validate/validate.h"

#include <algorithm>
#include <utility>

#include "pipeline/config/validate/draft.h"

namespace brigade {

namespace {

std::string path_text(std::string_view folder, std::string_view path) {
  std::vector<std::string_view> parts;
  const std::string joined = path.starts_with('/') ? std::string(path) : concat(folder, "/", path);
  for (const std::string_view part : split(joined, '/')) {
    if (part.empty() || part == ".") continue;
    parts.push_back(part);
  }
  return concat("/", join(parts, "/"));
}

std::string graph_name(const Validation& v) {
  if (!v.graph.name.empty()) return v.graph.name;
  if (v.context.source.count() == 0) return "graph";
  std::string_view name = v.context.source.file(0).name;
  name = name.substr(name.rfind('/') + 1);
  return std::string(name.substr(0, name.rfind('.')));
}

std::string graph_path(const Validation& v, const Marked<PathSpec>& path) {
  return absolute_path(v, path.value.path, path.value.origin);
}

void fill_top(const Validation& v, ValidGraph& graph) {
  static_cast<GraphKeys&>(graph) = v.graph;
  static_cast<GraphPlanningKeys&>(graph) = v.graph;
  graph.name = graph_name(v);
  for (int file = 0; file < v.context.source.count(); ++file)
    if (!v.context.source.file(file).is_setting)
      graph.files.push_back(v.context.source.file(file).name);
  if (const auto& every = v.graph.checkpoint_every) graph.checkpoint_every = every->value;
  if (const auto& file = v.graph.checkpoint_file) graph.checkpoint_file = graph_path(v, *file);
}

void check_checkpoint(Validation& v) {
  const auto& file = v.graph.checkpoint_file;
  const auto& every = v.graph.checkpoint_every;
  if (!file && every)
    v.diagnostics.error(every->span, "`checkpoint.every` needs a file to save in",
                        {"write `checkpoint: {file: model.ckpt, every: ...}`"});
  if (!file) return;
  check_written_file(v, "checkpoint.file", graph_path(v, *file), file->span);
}

ValidGraph assemble(Validation& v) {
  ValidGraph graph;
  fill_top(v, graph);
  ByStage<StageNumber> place(v.drafts.size());
  for (Draft& draft : v.drafts)
    for (const StageNumber part : draft.parts) draft.stage.parts.push_back(v.at(part).stage);
  for (const StageNumber index : v.order) {
    if (v.at(index).only_mixed) continue;
    place[index] = graph.stages.next_number();
    ValidStage stage = std::move(v.at(index).stage);
    for (ValidSource& source : stage.sources) source.stage = place[source.stage];
    graph.stages.push_back(std::move(stage));
  }
  graph.shared = std::move(v.shared);
  for (ValidShared& shared : graph.shared)
    if (shared.init_stage != -1) shared.init_stage = place[shared.init_stage];
  graph.plugins = std::move(v.plugins);
  return graph;
}

}  // namespace

std::string name_list(const std::vector<std::string>& names, std::size_t limit) {
  std::vector<std::string> shown;
  for (const std::string& name : names)
    if (shown.size() < limit) shown.push_back(name);
  if (names.size() > limit) return concat(join(shown, ", "), ", ... (", names.size(), " in all)");
  return join(shown, ", ", " and ");
}

std::string absolute_path(const Validation& v, const std::string& path, int origin) {
  const bool from_file = origin >= 0 && origin < v.context.source.count();
  return path_text(from_file ? v.context.source.file(origin).folder : v.context.working_directory,
                   path);
}

void check_written_file(Validation& v, std::string_view key, const std::string& path,
                        const Span& span) {
  const std::string folder = path.substr(0, std::max<std::size_t>(path.rfind('/'), 1));
  if (v.context.metadata.kind(folder) != PathKind::folder) {
    v.diagnostics.error(span, concat("`", key, "`: there is no folder ", folder),
                        {concat("create it: `mkdir -p ", folder, "`")});
  } else if (v.context.metadata.kind(path) == PathKind::folder) {
    v.diagnostics.error(span, concat("`", key, "`: ", path, " is a folder, expected a file"),
                        {"choose a file in it"});
  }
}

SourceMark graph_mark(const Validation& v, const Span& span) {
  SourceMark mark = span.mark;
  if (mark.file >= 0 && v.context.source.file(mark.file).is_setting) mark.file = -1;
  return mark;
}

std::optional<ValidGraph> validate_graph(const GraphSpec& spec, const ValidateContext& context,
                                         Diagnostics& diagnostics) {
  Validation v{spec, context, diagnostics, {}, {}, {}, {}, {}};
  for (const StageSpec& stage : spec.stages) {
    Draft draft;
    draft.spec = &stage;
    static_cast<StageKeys&>(draft.stage) = stage;
    static_cast<StagePlanningKeys&>(draft.stage) = stage;
    draft.stage.name = stage.name.value;
    draft.stage.mark = graph_mark(v, stage.name.span);
    v.drafts.push_back(std::move(draft));
  }
  validate_plugins(v);
  validate_types(v);
  validate_mixes(v);
  validate_sources(v);
  validate_order(v);
  validate_params(v);
  validate_ports(v);
  validate_labels(v);
  validate_batches(v);
  validate_caches(v);
  validate_device_memory(v);
  validate_hugepages(v);
  validate_subsets(v);
  validate_weights(v);
  validate_shared(v);
  validate_policies(v);
  check_checkpoint(v);
  if (!diagnostics.ok()) return std::nullopt;
  return assemble(v);
}

}  // namespace brigade
