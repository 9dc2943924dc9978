#include <algorithm>

#include "pipeline/config/validate/draft.h"

namespace brigade {

namespace {

std::string writer_name(Validation& v, const ValidSource& source) {
  return v.at(source.stage).stage.name;
}

void resolve_edges(Validation& v, Draft& draft) {
  for (std::size_t i = 0; i < draft.stage.sources.size(); ++i) {
    ValidSource& source = draft.stage.sources[i];
    const SourceSpec& spec = draft.spec->sources[i];
    source.batch = v.at(source.stage).stage.batch;
    if (spec.batch) source.batch = spec.batch->value;
  }
}

// Under zip one batch holds for all sources.
void unify(Validation& v, Draft& draft) {
  auto& sources = draft.stage.sources;
  const auto given = std::find_if(sources.begin(), sources.end(),
                                  [](const auto& source) { return source.batch != 0; });
  if (given == sources.end()) return;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    ValidSource& source = sources[i];
    if (source.batch == 0) source.batch = given->batch;
    if (source.batch == given->batch) continue;
    v.error(draft, draft.spec->sources[i].span,
            concat("`join: zip` needs one batch size for all sources, found ", given->batch,
                   " from ", quote(writer_name(v, *given)), " and ", source.batch, " from ",
                   quote(writer_name(v, source))),
            {"set the batch size of this reader here: `{stage: NAME, batch: 64}`"});
    return;
  }
}

void need_batch(Validation& v, Draft& draft, std::size_t i, bool others_have) {
  const StageSpec& from = *v.at(draft.stage.sources[i].stage).spec;
  if (draft.spec->sources[i].batch_broken || (from.find("batch") && !from.given("batch"))) return;
  for (const auto& [name, span] : from.unknown_keys)  // said already
    if (did_you_mean(name, key_names(KeyScope::stage)) == "batch") return;
  const std::string writer = writer_name(v, draft.stage.sources[i]);
  v.error(draft, draft.spec->sources[i].span,
          others_have ? concat("some sources have a batch, ", quote(writer), " has none")
                      : concat(quote(draft.stage.type->contract.type),
                               " takes batches, but its source ", quote(writer), " has no batch"),
          {concat("write `batch: 64` at stage ", quote(writer), ", for all its readers,"),
           concat("or here, for this one: `{stage: ", draft.spec->sources[i].stage,
                  draft.stage.sources[i].tensor.empty() ? "" : ".", draft.stage.sources[i].tensor,
                  ", batch: 64}`")});
}

void resolve_takes(Validation& v, Draft& draft) {
  auto& sources = draft.stage.sources;
  const Takes takes = draft.stage.type->contract.takes;
  const auto with_batch = std::count_if(sources.begin(), sources.end(),
                                        [](const auto& source) { return source.batch != 0; });
  draft.stage.batched =
      !sources.empty() && (takes == Takes::batches || (takes == Takes::either && with_batch > 0));
  if (!draft.stage.batched) {
    for (const SourceSpec& spec : draft.spec->sources)
      if (spec.batch && takes == Takes::samples)
        v.error(draft, spec.batch->span,
                concat("`batch` has no effect here: ", quote(draft.stage.type->contract.type),
                       " takes one sample at a time"),
                draft.stage.kind == StageKind::transform
                    ? std::vector<
                          std::string>{"to batch its output, write `batch:` as a key of the stage"}
                    : std::vector<std::string>{});
    return;
  }
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (sources[i].batch != 0) continue;
    if (draft.spec->sources[i].batch_of_one)
      sources[i].batch = 1;
    else
      need_batch(v, draft, i, with_batch > 0);
  }
  if (draft.stage.chunk != 0)
    v.error(draft, *draft.spec->given("chunk"),
            "`chunk` is for stages that take one sample at a time, this one takes batches",
            {"omit it: the task is one batch of its source"});
}

// Like `batch`, `drop_last` stands on the stage that takes batches, or on the writer for all its
// readers.
void resolve_drop_last(Validation& v, Draft& draft) {
  const Span* own = draft.spec->given("drop_last");
  if (draft.spec->drop_last && !draft.stage.batched && draft.stage.batch == 0)
    v.error(draft, *own, "`drop_last` has no effect: this stage has no batches",
            {"write it at the stage that takes batches, or beside `batch:`"});
  if (!draft.stage.batched) draft.stage.drop_last = false;
  if (!draft.stage.batched || own != nullptr) return;
  for (const ValidSource& source : draft.stage.sources) {
    const Draft& writer = v.at(source.stage);
    if (writer.spec->drop_last && !writer.stage.batched) draft.stage.drop_last = true;
  }
}

}  // namespace

void validate_batches(Validation& v) {
  for (const StageNumber index : v.order) {
    Draft& draft = v.at(index);
    if (!draft.has_type || !draft.has_sources) continue;
    resolve_edges(v, draft);
    const bool takes_batches = draft.stage.type->contract.takes != Takes::samples;
    if (draft.stage.join == Join::zip && takes_batches) unify(v, draft);
    resolve_takes(v, draft);
    resolve_drop_last(v, draft);
  }
}

}  // namespace brigade
