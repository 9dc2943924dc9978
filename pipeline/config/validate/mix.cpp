#include <algorithm>

#include "pipeline/config/graph/valid_graph.h"
#include "pipeline/config/validate/draft.h"
#include "stages/api/class_folders.h"

namespace brigade {
namespace {

std::string given_text(const Draft& draft) {
  std::vector<std::string> texts;
  for (const TensorType& tensor : draft.stage.outputs.tensors) texts.push_back(tensor.text());
  return name_list(texts, 6);
}

std::vector<std::string> known_producers(const Validation& v, const Draft& mix) {
  std::vector<std::string> names;
  for (const Draft& draft : v.drafts)
    if (&draft != &mix && draft.spec->kind == StageKind::producer && draft.spec->mixed.empty())
      names.push_back(draft.stage.name);
  return names;
}

/// Why nothing can be drawn from it, and what to do; empty: it can.
std::pair<std::string, std::string> problem_of_part(const Draft& part) {
  const std::string name = quote(part.stage.name);
  if (part.spec->kind && *part.spec->kind != StageKind::producer)
    return {
        concat(name, " is a ", stage_kind_name(*part.spec->kind), ": `mix:` draws from producers"),
        "draw from its producers, and let it read the mixture"};
  if (!part.spec->mixed.empty())
    return {concat(name, " is a mixture itself"), "write its producers here, with their shares"};
  if (part.spec->exec || is_python(part))
    return {concat(name,
                   " runs in its own process: `mix:` draws from producers that it can open in the "
                   "process of the mixture"),
            "write its samples into files that a producer reads (`npy`, `tar_shards`)"};
  if (part.has_type && !part.stage.type->indexed)
    return {concat(name, " is a stream, which cannot be read by index"),
            "read it from files by index, or let a consumer read both: `join: merge`"};
  return {};
}

void link_part(Validation& v, Draft& mix, const Marked<std::string>& name) {
  const auto found = std::find_if(v.drafts.begin(), v.drafts.end(), [&](const Draft& draft) {
    return draft.stage.name == name.value;
  });
  if (found == v.drafts.end()) {
    const auto producers = known_producers(v, mix);
    const auto meant = did_you_mean(name.value, producers);
    return v.error(
        mix, name.span, concat("there is no stage ", quote(name.value), " to draw from"),
        {meant               ? concat("did you mean ", quote(*meant), "?")
         : producers.empty() ? "`mix:` names producers, which are other stages of the graph"
                             : concat("producers: ", name_list(producers))});
  }
  if (&*found == &mix) return v.error(mix, name.span, "`mix:` names its own stage");
  if (const auto [problem, help] = problem_of_part(*found); !problem.empty())
    return v.error(mix, name.span, problem, {help});
  mix.parts.push_back(v.drafts.number_of(*found));
  found->mixed_by.push_back(v.drafts.number_of(mix));
}

void check_keys_of_mix(Validation& v, const Draft& mix) {
  for (const GivenKey& given : mix.spec->keys)
    if (given.key->name != "params" && is_key_of_part(given.key->name))
      v.error(
          mix, given.span,
          concat("`", given.key->name, "` belongs to the producers that `mix:` names"),
          {concat(
              "write it at ", name_list(known_producers(v, mix)),
              "; the shares set how much each producer contributes, `samples:` sets the total")});
}

/// Of one that nothing else reads.
void check_keys_of_part(Validation& v, const Draft& part) {
  const Draft& mix = v.at(part.mixed_by.front());
  for (const GivenKey& given : part.spec->keys)
    if (!is_key_of_part(given.key->name))
      v.error(part, given.span,
              concat("`", given.key->name, "` has no effect: ", quote(mix.stage.name),
                     " draws from this stage, and no other stage reads it"),
              {concat("write it at ", quote(mix.stage.name))});
}

bool is_read(const Validation& v, const Draft& part) {
  return std::any_of(v.drafts.begin(), v.drafts.end(), [&](const Draft& draft) {
    return std::any_of(draft.spec->sources.begin(), draft.spec->sources.end(),
                       [&](const SourceSpec& source) { return source.stage == part.stage.name; });
  });
}

/// Makes room in `type` for `other`, too. False where they are not alike.
bool widen(TensorType& type, const TensorType& other) {
  if (type.dtype != other.dtype || type.shape.size() != other.shape.size()) return false;
  for (std::size_t i = 0; i < type.shape.size(); ++i) {
    Dim& dim = type.shape[i];
    const Dim& its = other.shape[i];
    if (dim.kind != its.kind || (dim.kind == Dim::Kind::exact && dim.size != its.size))
      return false;
    dim.size = std::max(dim.size, its.size);
  }
  return true;
}

bool widen(Ports& ports, const Ports& other) {
  if (ports.tensors.size() != other.tensors.size()) return false;
  return std::all_of(ports.tensors.begin(), ports.tensors.end(), [&](TensorType& tensor) {
    const TensorType* const its = other.find(tensor.name);
    return its != nullptr && widen(tensor, *its);
  });
}

/// What `mix:` says of that name.
const Marked<std::string>& named(const Draft& mix, const std::string& name) {
  const auto& mixed = mix.spec->mixed;
  return *std::find_if(mixed.begin(), mixed.end(),
                       [&](const Marked<std::string>& one) { return one.value == name; });
}

const Span& part_span(const Validation& v, const Draft& mix, StageNumber part) {
  return named(mix, v.drafts[part].stage.name).span;
}

}  // namespace

void validate_mixes(Validation& v) {
  for (Draft& draft : v.drafts) {
    if (draft.spec->mixed.empty() || draft.spec->broken) continue;
    for (const auto& share : draft.stage.mix.shares)  // in their order
      link_part(v, draft, named(draft, share.first));
    check_keys_of_mix(v, draft);
  }
  for (Draft& draft : v.drafts) {
    draft.only_mixed = !draft.mixed_by.empty() && !is_read(v, draft);
    if (draft.only_mixed) check_keys_of_part(v, draft);
    draft.only_mixed |= draft.spec->only_names;
  }
}

bool make_mixed_outputs(Validation& v, Draft& mix) {
  if (mix.parts.size() != mix.spec->mixed.size()) return false;
  for (const StageNumber part : mix.parts)
    if (!v.at(part).has_outputs) return false;
  const Draft& first = v.at(mix.parts.front());
  mix.stage.outputs = first.stage.outputs;
  for (const StageNumber number : mix.parts) {
    const Draft& part = v.at(number);
    if (widen(mix.stage.outputs, part.stage.outputs)) continue;
    v.error(mix, part_span(v, mix, number),
            concat("`mix:` needs the same tensors from each producer: ", quote(first.stage.name),
                   " outputs ", given_text(first), ", ", quote(part.stage.name), " outputs ",
                   given_text(part)),
            {"change the types or parameters of the producers until their outputs match"});
    return false;
  }
  return true;
}

void mix_labels(Validation& v, Draft& mix) {
  if (mix.stage.outputs.find("label") == nullptr) return;
  const Draft* most = nullptr;  // names of classes: where one list begins with the other, both fit
  bool named = true;
  bool counted = true;
  for (const StageNumber number : mix.parts) {
    const Draft& part = v.at(number);
    named &= !part.label_names.empty();
    counted &= part.label_classes != 0;
    mix.label_classes = std::max(mix.label_classes, part.label_classes);
    if (part.label_names.empty()) continue;
    if (most != nullptr && !mean_the_same(most->label_names, part.label_names))
      v.error(
          mix, part_span(v, mix, number),
          concat("the labels of ", quote(part.stage.name),
                 " belong to different classes than the labels of ", quote(most->stage.name), ": ",
                 class_difference(most->label_names, part.label_names)),
          {"a label is the position of its class name: give both the same folders, or one file"});
    if (most == nullptr || most->label_names.size() < part.label_names.size()) most = &part;
  }
  if (named && most != nullptr) mix.label_names = most->label_names;
  if (!counted) mix.label_classes = 0;
}

}  // namespace brigade
