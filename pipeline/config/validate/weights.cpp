#include <algorithm>

#include "base/units.h"
#include "pipeline/config/language/weights_parser.h"
#include "pipeline/config/validate/draft.h"
#include "stages/api/class_folders.h"
#include "stages/api/npy_header.h"

namespace brigade {
namespace {

std::string weights_of(std::uint64_t count) {
  return concat(format_count(count), count == 1 ? " weight" : " weights");
}

/// What its beginning tells of a file of weights: of a short text all.
Result<std::optional<std::uint64_t>> count_weights(const std::string& path, const FileHeader& file,
                                                   const std::string& column) {
  const bool whole = file.header.size() >= file.file_bytes;
  if (whole) {
    BRIGADE_ASSIGN(const auto weights, parse_weights_file(path, file.header, column));
    const bool any = std::ranges::any_of(weights, [](double weight) { return weight > 0; });
    if (!any) return Error{concat(path, ": all weights are 0, expected at least one above 0")};
    return std::optional<std::uint64_t>(weights.size());
  }
  if (!column.empty() || !file.header.starts_with("\x93NUMPY"))
    return std::optional<std::uint64_t>();
  BRIGADE_ASSIGN(const NpyHeader header, parse_npy_header(path, file.header));
  return std::optional(static_cast<std::uint64_t>(header.shape[0]));
}

void check_file(Validation& v, Draft& draft, const Span& span) {
  std::string& written = draft.stage.weights.file;
  written = absolute_path(v, written, span.mark.file);
  const auto is_file = [&v](const std::string& path) {
    return v.context.metadata.kind(path) == PathKind::file;
  };
  const auto table = is_file(written) ? std::nullopt : column_of(written);
  const std::string path = table ? table->file : written;
  if (!is_file(path))
    return v.error(draft, span, concat("`weights`: there is no file ", path),
                   {"expected `balanced`, a mapping such as {cat: 2, others: 1}, a file with a "
                    "number for each sample, or a column of a table: FILE.csv:COLUMN"});
  const auto file = v.context.metadata.read(path);
  const auto count =
      file ? count_weights(path, *file, table ? table->column : "") : file.error().within(path);
  if (!count) return v.error(draft, span, concat("`weights`: ", count.error().message));
  const std::uint64_t samples = draft.stage.samples;
  if (*count && samples != 0 && **count != samples)
    v.error(draft, span,
            concat("`weights`: ", path, " has ", weights_of(**count), ", but the source has ",
                   format_samples(samples)),
            {"write one weight for each sample of the source, including those that `skip:`, "
             "`split:` and `limit:` omit"});
}

/// Of labels whose names are known before the run.
void check_classes(Validation& v, const Draft& draft, const Span& span) {
  const std::vector<std::string>& names = draft.label_names;
  if (names.empty()) return;
  bool others = false;
  std::vector<std::string> missing = names;
  for (const auto& [name, weight] : draft.stage.weights.classes) {
    std::erase(missing, name);
    if (std::ranges::find(names, name) != names.end()) continue;
    others |= name == kOtherClasses;
    if (name == kOtherClasses) continue;
    const auto meant = did_you_mean(name, names);
    return v.error(draft, span, concat("`weights`: the source has no class ", quote(name)),
                   {meant ? concat("did you mean ", quote(*meant), "?")
                          : concat("its classes are ", class_list(names))});
  }
  if (missing.empty() || others) return;
  v.error(draft, span, concat("`weights`: no weight for ", class_list(missing)),
          {"write a weight for each class, or `others: 1` for the remaining classes"});
}

void check_labels(Validation& v, const Draft& draft, const GivenKey& key) {
  if (draft.spec->exec || is_python(draft))
    return v.error(draft, key.span,
                   concat("`", key.key->name,
                          "` needs labels that are known before the run, but a program has none"),
                   {"write `weights: FILE`, with a number for each sample"});
  if (!draft.has_outputs || draft.stage.outputs.find("label") != nullptr) return;
  v.error(draft, key.span,
          concat("`", key.key->name, "` needs the tensor `label`, which ",
                 quote(draft.stage.type->contract.type), " does not output here"),
          {"write `weights: FILE`, with a number for each sample"});
}

void check_shuffle(Validation& v, const Draft& draft, const GivenKey& key) {
  if (draft.stage.shuffle) return;
  v.warning(draft, key.span,
            draft.stage.mix.any() ? "without `shuffle: true` nothing is mixed: an epoch reads all "
                                    "its samples of one producer, then all of the next"
                                  : "without `shuffle: true` samples keep the order of the source, "
                                    "and repeated samples follow each other");
}

void check_weights(Validation& v, Draft& draft) {
  const GivenKey* const weights = draft.spec->find("weights");
  const GivenKey* const repeat = draft.spec->find("repeat_factor");
  const Span* const samples = draft.spec->given("samples");
  const GivenKey* const first = weights != nullptr ? weights : repeat;
  if (draft.stage.mix.any()) return check_shuffle(v, draft, *draft.spec->find("mix"));
  if (first == nullptr && samples != nullptr)
    return v.error(draft, *samples,
                   "`samples` needs `mix:`, `weights:` or `repeat_factor:`: it sets how many "
                   "samples they draw per epoch",
                   {"use `limit:` to read fewer samples of a source"});
  if (first == nullptr || !first->good || (repeat != nullptr && !repeat->good)) return;
  if (weights != nullptr && repeat != nullptr)
    return v.error(draft, repeat->span, "`weights` and `repeat_factor` cannot be combined",
                   {"keep one of them"});
  if (!draft.stage.weights.file.empty()) check_file(v, draft, weights->value_span);
  if (draft.stage.weights.file.empty()) check_labels(v, draft, *first);
  if (!draft.stage.weights.classes.empty()) check_classes(v, draft, weights->value_span);
  if (!draft.only_mixed) check_shuffle(v, draft, *first);
}

}  // namespace

void validate_weights(Validation& v) {
  for (Draft& draft : v.drafts)
    if (draft.has_type && draft.has_params && draft.stage.kind == StageKind::producer)
      check_weights(v, draft);
}

}  // namespace brigade
