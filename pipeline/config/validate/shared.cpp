#include <algorithm>
#include <set>
#include <utility>

#include "pipeline/config/validate/draft.h"
#include "stages/api/npy_header.h"

namespace brigade {

namespace {

constexpr std::string_view kZeros = "zeros";
constexpr std::string_view kReplica0 = "replica_0";

class SharedCheck {
 public:
  SharedCheck(Validation& validation, const SharedSpec& spec) : v_(validation), spec_(spec) {
    for (const StageNumber s : v_.drafts.numbers())
      for (const auto& name : v_.drafts[s].spec->shared)
        if (name.value == spec.name.value && (mapped_by_.empty() || mapped_by_.back() != s))
          mapped_by_.push_back(s);
  }

  ValidShared take() {
    out_.type = spec_.type;
    out_.mark = graph_mark(v_, spec_.name.span);
    out_.own_part = spec_.own_part && spec_.own_part->value;
    check_users();
    if (spec_.init) check_init(*spec_.init);
    if (spec_.save) check_save(*spec_.save);
    return std::move(out_);
  }

 private:
  void error(const Span& span, std::string_view message, std::string help) {
    v_.diagnostics.error(span, concat("`shared`: ", spec_.name.value, ": ", message),
                         {std::move(help)});
  }
  std::string names() const {
    std::vector<std::string> all;
    for (const StageNumber s : mapped_by_) all.push_back(v_.drafts[s].spec->name.value);
    return name_list(all);
  }

  void check_users() {
    const bool program = std::any_of(v_.drafts.begin(), v_.drafts.end(), [](const Draft& draft) {
      return draft.has_type && draft.stage.type->contract.application;
    });
    if (mapped_by_.empty() && !program)
      error(spec_.name.span, "no stage maps it",
            concat("write `shared: ", spec_.name.value, "` at the stages that use it"));
    if (out_.own_part && mapped_by_.size() > 1)
      error(spec_.own_part->span,
            concat("`access: own_part` divides the tensor among the replicas of one stage, but ",
                   names(), " map it"),
            "declare a tensor for each stage; the program that starts the graph sees them all");
  }

  void check_init(const Marked<PathSpec>& init) {
    const std::string& text = init.value.path;
    if (text == kZeros) return;
    const bool by_stage = text.ends_with(concat(".", kReplica0));
    if (text != kReplica0 && !by_stage) return check_init_file(init);
    const std::string stage =
        by_stage ? text.substr(0, text.size() - kReplica0.size() - 1) : std::string();
    std::vector<StageNumber> fill = mapped_by_;
    if (by_stage)
      std::erase_if(fill, [&](StageNumber s) { return v_.drafts[s].spec->name.value != stage; });
    if (out_.own_part) {
      error(init.span, "`access: own_part`: replica 0 can write only its own part",
            "write `init: zeros` or a file");
    } else if (fill.size() > 1) {
      error(init.span, concat("replica 0 of ", names(), " would all initialize it"),
            concat("choose one: `init: ", v_.drafts[fill[0]].spec->name.value, ".replica_0`"));
    } else if (fill.empty()) {
      error(init.span,
            by_stage ? concat("stage ", quote(stage), " does not map it")
                     : "no stage maps it, so no replica 0 can initialize it",
            concat("write `shared: ", spec_.name.value, "` at the stage that initializes it"));
    } else {
      out_.init_stage = fill[0];
    }
  }

  void check_init_file(const Marked<PathSpec>& init) {
    const std::string path = absolute_path(v_, init.value.path, init.value.origin);
    if (v_.context.metadata.kind(path) != PathKind::file)
      return error(init.span, concat("there is no file ", path),
                   "`init:` is zeros, replica_0, STAGE.replica_0 or a NumPy file (.npy)");
    const auto head = v_.context.metadata.read(path);
    const auto found =
        head ? parse_npy_header(path, head->header) : Result<NpyHeader>(head.error().within(path));
    if (!found) return error(init.span, found.error().message, "save it with numpy.save()");
    const Shape shape = spec_.type.bounds();
    const auto bytes =
        found->bytes + static_cast<std::size_t>(found->shape[0]) * found->sample_bytes;
    if (found->dtype != spec_.type.dtype || found->shape != shape) {
      error(init.span,
            concat("expected ", dtype_name(spec_.type.dtype), shape_text(shape), ", but ", path,
                   " holds ", dtype_name(found->dtype), shape_text(found->shape)),
            "write the dtype and shape of the file, or choose another file");
    } else if (head->file_bytes < bytes) {
      error(
          init.span,
          concat(path, " is truncated: it ends after ", head->file_bytes, " of ", bytes, " bytes"),
          "save the file again");
    } else {
      out_.init_file = path;
    }
  }

  void check_save(const Marked<PathSpec>& save) {
    out_.save_file = absolute_path(v_, save.value.path, save.value.origin);
    check_written_file(v_, "shared.save", out_.save_file, save.span);
    if (!print_npy_header(spec_.type.dtype, Shape{1}))
      error(save.span, concat("NumPy files do not support ", dtype_name(spec_.type.dtype)),
            "store it as f32");
    for (const ValidShared& other : v_.shared)
      if (other.save_file == out_.save_file)
        error(save.span, concat(quote(other.type.name), " is saved to the same file"),
              "choose a different file for each tensor");
  }

  Validation& v_;
  const SharedSpec& spec_;
  std::vector<StageNumber> mapped_by_;
  ValidShared out_;
};

void map_by_stage(Validation& v, Draft& draft) {
  std::vector<std::string> known;
  for (const SharedSpec& shared : v.graph.shared) known.push_back(shared.name.value);
  for (const Marked<std::string>& name : draft.spec->shared) {
    const auto found = std::find(known.begin(), known.end(), name.value);
    const int index = static_cast<int>(found - known.begin());
    std::vector<int>& mapped = draft.stage.shared;
    if (found == known.end()) {
      const auto meant = did_you_mean(name.value, known);
      v.error(draft, name.span, concat("there is no shared tensor ", quote(name.value)),
              {meant           ? concat("did you mean ", quote(*meant), "?")
               : known.empty() ? "declare it at the top level: `shared: {NAME: {dtype: f32, "
                                 "shape: [1000]}}`"
                               : concat("shared tensors: ", name_list(known))});
    } else if (std::find(mapped.begin(), mapped.end(), index) == mapped.end()) {
      mapped.push_back(index);
    }
  }
}

}  // namespace

void validate_shared(Validation& v) {
  for (const SharedSpec& spec : v.graph.shared) v.shared.push_back(SharedCheck(v, spec).take());
  for (Draft& draft : v.drafts) map_by_stage(v, draft);
}

}  // namespace brigade
