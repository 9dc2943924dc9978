#include <charconv>

#include "pipeline/config/validate/draft.h"
#include "stages/api/class_folders.h"

namespace brigade {

namespace {

constexpr std::string_view kLabel = "label";
constexpr std::string_view kClasses = "classes";

/// Where a parameter was given, or the type.
const Span& param_span(const Draft& draft, std::string_view name) {
  const auto& params = draft.spec->params;
  const YamlEntry* const given = params ? params->value.find(name) : nullptr;
  return given == nullptr ? type_span(draft) : given->value.span;
}

std::string param_text(const Draft& draft, std::string_view name) {
  for (const auto& [param, value] : draft.stage.param_values)
    if (param == name) return value.text;
  return "";
}

void look_at_folder(Validation& v, Draft& draft) {
  std::string root = param_text(draft, kClassFolderParam);
  while (root.size() > 1 && root.ends_with('/')) root.pop_back();
  const auto classes = count_classes(root, [&v](const std::string& path, std::size_t names_max) {
    return v.context.metadata.list(path, names_max);
  });
  if (classes) {
    draft.label_classes = *classes;
  } else if (draft.stage.samples == 0) {  // else an index that holds says what is there
    v.error(draft, param_span(draft, kClassFolderParam),
            concat("parameter ", quote(kClassFolderParam), ": ", classes.error().message));
  }
}

/// Whether its samples may be fewer than there are, so that a label may be missing.
bool leaves_out(const Draft& draft) {
  const ValidStage& stage = draft.stage;
  return stage.skip != 0 || stage.limit.any() || !stage.part.empty() ||
         !stage.split.shares.empty() || stage.type->contract.may_drop;
}

/// Labels that travel on are of as many classes as above.
void pass_classes(Validation& v, Draft& draft) {
  for (const auto& [tensor, source] : draft.stage.passed)
    if (tensor == kLabel)
      draft.label_classes =
          v.at(draft.stage.sources[static_cast<std::size_t>(source)].stage).label_classes;
}

void compare_classes(Validation& v, const Draft& draft) {
  const std::string text = param_text(draft, kClasses);
  std::int64_t said = 0;
  std::from_chars(text.data(), text.data() + text.size(), said);
  for (const ValidSource& source : draft.stage.sources) {
    const std::int64_t classes = v.at(source.stage).label_classes;
    if (said >= classes || source.tensors.find(kLabel) == nullptr) continue;
    return v.error(draft, param_span(draft, kClasses),
                   concat("parameter ", quote(kClasses), " is ", said, ", but the labels of ",
                          quote(v.at(source.stage).stage.name), " are of ", classes, " classes"),
                   {concat("write `classes: ", classes, "`")});
  }
}

}  // namespace

void validate_labels(Validation& v) {
  for (const StageNumber index : v.order) {
    Draft& draft = v.at(index);
    if (!draft.has_type || !draft.has_params) continue;
    const StageContract& contract = draft.stage.type->contract;
    if (contract.type == kClassFolderType) look_at_folder(v, draft);
    if (contract.kind == StageKind::transform) pass_classes(v, draft);
    if (leaves_out(draft)) draft.label_classes = 0;
    if (is_classifier(draft)) compare_classes(v, draft);
  }
}

}  // namespace brigade
