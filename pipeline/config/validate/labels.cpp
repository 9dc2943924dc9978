#include <algorithm>
#include <charconv>
#include <cstddef>

#include "pipeline/config/language/class_source.h"
#include "pipeline/config/validate/draft.h"
#include "stages/api/class_folders.h"

namespace brigade {

namespace {

constexpr std::string_view kLabel = "label";
constexpr std::string_view kClasses = "classes";
constexpr std::string_view kNames = "names";
constexpr std::size_t kNamesMax = 1 << 16;  // that a plan carries
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
constexpr std::string_view kSharesType = "mix_batch";

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

std::int64_t number_of(const std::string& text) {
  std::int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

void look_at_folder(Validation& v, Draft& draft) {
  std::string root = param_text(draft, kClassFolderParam);
  while (root.size() > 1 && root.ends_with('/')) root.pop_back();
  const ListFolder list = [&v](const std::string& path, std::size_t names_max) {
    return v.context.metadata.list(path, names_max);
  };
  const auto classes = class_names(root, list);
  if (classes) {
    draft.label_classes = static_cast<std::int64_t>(classes->size());
    draft.label_names = *classes;
  } else if (draft.stage.samples == 0) {  // else an index that holds says what is there
    v.error(draft, param_span(draft, kClassFolderParam),
            concat("parameter ", quote(kClassFolderParam), ": ", classes.error().message));
  }
  const bool may_leave_none = draft.stage.skip != 0 || !draft.stage.split.shares.empty();
  if (classes && may_leave_none) draft.stage.files = count_images(root, list).value_or(0);
}

/// The list of names; or a name a line, where the file is not longer than what is read of it before
/// a run. The source reports its errors when it opens.
void look_at_names(Validation& v, Draft& draft) {
  for (const auto& [param, value] : draft.stage.param_values)
    if (param == kNames && draft.label_names.empty())
      for (const ParamValue& name : value.items) draft.label_names.push_back(name.text);
  if (!draft.label_names.empty()) {
    draft.label_classes = static_cast<std::int64_t>(draft.label_names.size());
    return;
  }
  const std::string path = param_text(draft, kClasses);
  const auto file = v.context.metadata.read(path);
  if (path.empty() || !file || file->header.size() != file->file_bytes) return;
  std::string_view text = file->header;
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  for (const std::string_view name : split(trim(text), '\n'))
    draft.label_names.emplace_back(trim(name));
  draft.label_classes = static_cast<std::int64_t>(draft.label_names.size());
}

/// Takes the names for its own; an error where one of its labels is none of them.
void take_names(Validation& v, Draft& draft, const std::vector<NamedClass>& own,
                const Draft& source) {
  const auto& names = source.label_names;
  for (const auto& [name, place] : own) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    v.error(draft, type_span(draft),
            concat(place, ": ", quote(name), " is not a class of ", quote(source.stage.name),
                   ", whose classes number the labels of the whole graph: ", class_list(names)),
            {"write `classes: FILE` at both, a file with one class name per line, or add a sample",
             concat("of each class to ", quote(source.stage.name))});
    return;
  }
  const ParamSpec* const spec = draft.stage.type->contract.find_param(kNames);
  ParamValue value;
  value.kind = ParamValue::Kind::list;
  for (const std::string& name : names) value.items.push_back(ParamValue::scalar(name));
  if (spec == nullptr || !spec->set(draft.stage.params.get(), value)) return;
  for (auto& [param, given] : draft.stage.param_values)
    if (param == kNames) given = value;
  draft.label_names = names;
  draft.label_classes = static_cast<std::int64_t>(names.size());
}

void warn_of_numbers(Validation& v, const Draft& draft, const Draft& source) {
  v.warning(draft, type_span(draft),
            concat("this stage and ", quote(source.stage.name),
                   " number their classes by their own labels: a class that one of them lacks "
                   "changes the numbers"),
            {"write `classes: FILE` at both, a file with one class name per line"});
}

/// Labels that are names have the numbers of one source, in all of the graph.
void number_classes(Validation& v) {
  const auto is_named = [](const Draft& draft) {
    return draft.has_params && draft.stage.type->contract.named_classes &&
           names_classes(*draft.spec);
  };
  const auto source = std::find_if(v.drafts.begin(), v.drafts.end(), [&](const Draft& draft) {
    return is_named(draft) && draft.stage.name == v.graph.class_source;
  });
  if (source == v.drafts.end()) return;
  std::vector<Draft*> others;  // parts of one table have the same names
  for (Draft& draft : v.drafts)
    if (is_named(draft) && draft.stage.param_values != source->stage.param_values)
      others.push_back(&draft);
  if (others.empty()) return;
  const auto classes_of = [](const Draft& draft) {
    return draft.stage.type->contract.named_classes(draft.stage.params.get());
  };
  const auto classes = classes_of(*source);
  if (classes)
    for (const NamedClass& one : *classes) source->label_names.push_back(one.name);
  source->label_classes = static_cast<std::int64_t>(source->label_names.size());
  for (Draft* const other : others) {
    const auto own = classes_of(*other);
    if (classes && own && classes->size() <= kNamesMax) {
      take_names(v, *other, *own, *source);
    } else {
      warn_of_numbers(v, *other, *source);
    }
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
  for (const auto& [tensor, source] : draft.stage.passed) {
    if (tensor != kLabel) continue;
    const Draft& above = v.at(draft.stage.sources[static_cast<std::size_t>(source)].stage);
    draft.label_classes = above.label_classes;
    draft.label_names = above.label_names;
  }
  // Shares of the classes that its labels were before.
  if (draft.stage.type->contract.type == kSharesType && !draft.stage.sources.empty())
    draft.label_names = v.at(draft.stage.sources.front().stage).label_names;
}

/// A classifier calls its classes as the first source does that knows their names, unless it was
/// told.
void name_classes(Validation& v, Draft& draft) {
  const ParamSpec* const spec = draft.stage.type->contract.find_param(kNames);
  const auto known = std::find_if(
      draft.stage.sources.begin(), draft.stage.sources.end(), [&v](const ValidSource& source) {
        return source.tensors.find(kLabel) != nullptr && !v.at(source.stage).label_names.empty();
      });
  if (spec == nullptr || known == draft.stage.sources.end()) return;
  const auto& names = v.at(known->stage).label_names;
  if (static_cast<std::int64_t>(names.size()) > number_of(param_text(draft, kClasses))) return;
  for (auto& [param, value] : draft.stage.param_values) {
    if (param != kNames || !value.items.empty()) continue;
    value.kind = ParamValue::Kind::list;
    for (const std::string& name : names) value.items.push_back(ParamValue::scalar(name));
    BRIGADE_CHECK(spec->set(draft.stage.params.get(), value).ok(), names.size());
  }
}

void compare_names(Validation& v, const Draft& draft) {
  const Draft* first = nullptr;
  for (std::size_t i = 0; i < draft.stage.sources.size(); ++i) {
    const Draft& source = v.at(draft.stage.sources[i].stage);
    if (source.label_names.empty() || draft.stage.sources[i].tensors.find(kLabel) == nullptr)
      continue;
    if (first == nullptr) first = &source;
    if (mean_the_same(first->label_names, source.label_names)) continue;
    return v.error(
        draft, draft.spec->sources[i].span,
        concat("the labels of ", quote(source.stage.name), " belong to different classes than the ",
               "labels of ", quote(first->stage.name), ": ",
               class_difference(first->label_names, source.label_names)),
        {"a label is the position of its class name: give both the same folders, or one file"});
  }
}

/// Classes at the end of those that are trained on may be missing in the evaluation.
void name_unevaluated(Validation& v, const Draft& draft) {
  const auto& sources = draft.stage.sources;
  const auto of_port = [&sources](std::string_view port) {
    return std::find_if(sources.begin(), sources.end(), [port](const ValidSource& source) {
      return source.port == port && source.tensors.find(kLabel) != nullptr;
    });
  };
  const auto train = of_port("train");
  const auto test = of_port("test");
  if (train == sources.end() || test == sources.end()) return;
  const Draft& learned = v.at(train->stage);
  const Draft& evaluated = v.at(test->stage);
  const auto& names = learned.label_names;
  const std::size_t known = evaluated.label_names.size();
  if (known == 0 || known >= names.size() || !mean_the_same(names, evaluated.label_names)) return;
  const std::vector<std::string> missing(names.begin() + static_cast<std::ptrdiff_t>(known),
                                         names.end());
  v.warning(draft, draft.spec->sources[static_cast<std::size_t>(test - sources.begin())].span,
            concat("the labels of ", quote(evaluated.stage.name), " lack ", class_list(missing),
                   ", which the labels of ", quote(learned.stage.name),
                   " include: these classes are learned, but not evaluated"));
}

void compare_classes(Validation& v, const Draft& draft) {
  const std::int64_t said = number_of(param_text(draft, kClasses));
  for (const ValidSource& source : draft.stage.sources) {
    const std::int64_t classes = v.at(source.stage).label_classes;
    if (said >= classes || source.tensors.find(kLabel) == nullptr) continue;
    return v.error(draft, param_span(draft, kClasses),
                   concat("parameter ", quote(kClasses), " is ", said, ", but the labels of ",
                          quote(v.at(source.stage).stage.name), " have ", classes, " classes"),
                   {concat("write `classes: ", classes, "`")});
  }
}

}  // namespace

// A class is a number by the place of its name among all.
bool mean_the_same(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  return std::equal(a.begin(), a.begin() + std::min(a.size(), b.size()), b.begin());
}

void validate_labels(Validation& v) {
  number_classes(v);
  for (const StageNumber index : v.order) {
    Draft& draft = v.at(index);
    if (!draft.has_type || !draft.has_params) continue;
    const StageContract& contract = draft.stage.type->contract;
    if (contract.type == kClassFolderType) look_at_folder(v, draft);
    if (contract.named_classes) look_at_names(v, draft);
    if (!draft.parts.empty()) mix_labels(v, draft);
    if (contract.kind == StageKind::transform) pass_classes(v, draft);
    if (leaves_out(draft)) draft.label_classes = 0;
    if (!is_classifier(draft)) continue;
    compare_classes(v, draft);
    compare_names(v, draft);
    name_unevaluated(v, draft);
    name_classes(v, draft);
  }
}

}  // namespace brigade
