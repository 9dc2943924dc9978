#include <algorithm>

#include "pipeline/config/language/key_table.h"
#include "pipeline/config/validate/draft.h"

namespace brigade {

namespace {

std::vector<std::string> readable_names(const Validation& v, const Draft& reader) {
  std::vector<std::string> names;
  for (const Draft& draft : v.drafts)
    if (&draft != &reader && draft.stage.kind != StageKind::consumer)
      names.push_back(draft.stage.name);
  return names;
}

std::vector<std::string> source_help(const Validation& v, const Draft& reader,
                                     std::string_view name) {
  const auto names = readable_names(v, reader);
  if (const auto meant = did_you_mean(name, names))
    return {concat("did you mean \"", *meant, "\"?")};
  if (names.empty()) return {"there is no stage to read: add a producer"};
  return {concat("stages to read: ", name_list(names))};
}

bool resolve(Validation& v, Draft& reader, const SourceSpec& source) {
  const auto found = std::find_if(v.drafts.begin(), v.drafts.end(), [&](const Draft& draft) {
    return draft.stage.name == source.stage;
  });
  if (found == v.drafts.end()) {
    v.error(reader, source.span, concat("there is no stage ", quote(source.stage), " to read"),
            source_help(v, reader, source.stage));
    return false;
  }
  if (&*found == &reader) {
    v.error(reader, source.span, "a stage cannot read itself", source_help(v, reader, ""));
    return false;
  }
  if (found->spec->kind && *found->spec->kind == StageKind::consumer) {
    v.error(reader, source.span, concat(quote(source.stage), " is a consumer, which has no output"),
            source_help(v, reader, ""));
    return false;
  }
  ValidSource out;
  out.stage = v.drafts.number_of(*found);
  out.port = source.port ? source.port->value : source.stage;
  out.tensor = source.tensor;
  out.mark = graph_mark(v, source.span);
  if (source.max_wait_ns) out.max_wait_ns = source.max_wait_ns->value;
  reader.stage.sources.push_back(std::move(out));
  found->readers.push_back(v.drafts.number_of(reader));
  return true;
}

// In a list the ports are called like the stages, so none may be there twice.
bool check_ports_unique(Validation& v, Draft& draft) {
  const auto& sources = draft.spec->sources;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (sources[i].port || sources[i].stage != sources[j].stage) continue;
      v.error(draft, sources[i].span, concat("reads ", quote(sources[i].stage), " twice"),
              {"give the two sources different names: `from: {first: ..., second: ...}`"});
      return false;
    }
  }
  return true;
}

// Of a stage type that tells its sources apart by name.
bool check_port_names(Validation& v, const Draft& draft) {
  const StageContract& contract = draft.stage.type->contract;
  if (contract.source_ports.empty()) return true;
  bool good = true;
  for (const SourceSpec& source : draft.spec->sources) {
    const std::string& port = source.port ? source.port->value : source.stage;
    const auto& known = contract.source_ports;
    if (std::find(known.begin(), known.end(), port) != known.end()) continue;
    good = false;
    const auto meant = did_you_mean(port, known);
    v.error(draft, source.port ? source.port->span : source.span,
            concat(quote(contract.type), " has no port ", quote(port)),
            {meant ? concat("did you mean ", quote(*meant), "?")
                   : concat("name the sources: `from: {", join(known, ": STAGE, "), ": STAGE}`")});
  }
  return good;
}

// A transform gives what it reads its number, and two sources have the same ones: only a type that
// numbers anew can merge them.
bool check_join_of_transform(Validation& v, Draft& draft, const Marked<Join>& join) {
  const bool merge = join.value == Join::merge;
  if (join.value == Join::zip || draft.stage.kind == StageKind::consumer) return true;
  if (merge && draft.has_type && draft.stage.type->contract.numbering == Numbering::flat_map)
    return true;
  std::vector<std::string> help{
      "read each source in its own stage, and join their outputs at the consumer"};
  if (merge) help.insert(help.begin(), "`transform: merge` combines several sources into one");
  v.error(draft, join.span,
          concat("`join: ", merge ? "merge" : "epochs",
                 "` applies to consumers, but this stage is a transform"),
          std::move(help));
  return false;
}

bool check_join(Validation& v, Draft& draft) {
  const StageSpec& spec = *draft.spec;
  const std::size_t count = spec.sources.size();
  if (count < 2) {
    if (spec.join)
      v.warning(draft, spec.join->span, "`join` has no effect: the stage has only one source");
    return true;
  }
  bool good = true;
  if (draft.has_type && !draft.stage.type->contract.several_inputs) {
    good = false;
    v.error(draft, *spec.from,
            concat(quote(draft.stage.type->contract.type), " takes one source, found ", count));
  }
  if (draft.has_type) good = check_port_names(v, draft) && good;
  if (!spec.join) {
    if (spec.find("join") != nullptr) return false;
    std::vector<std::string> help;
    for (const ValueSpec& value : value_table())
      if (value.scope == KeyScope::stage && value.key == "join")
        help.push_back(concat("`join: ", value.value, "`: ", value.help));
    v.error(draft, *spec.from, concat("reads ", count, " sources, but has no `join:`"),
            std::move(help));
    return false;
  }
  if (!check_join_of_transform(v, draft, *spec.join)) return false;
  draft.stage.join = spec.join->value;
  return good;
}

// False where a name could not be resolved.
bool link(Validation& v, Draft& draft) {
  const StageSpec& spec = *draft.spec;
  if (!spec.kind) return false;
  if (*spec.kind == StageKind::producer) return draft.has_sources = true;
  if (!spec.from) {
    v.error(draft, spec.name.span,
            "`from:` is missing: transforms and consumers read another stage",
            source_help(v, draft, ""));
    return false;
  }
  bool good = !spec.sources.empty();
  for (const SourceSpec& source : spec.sources) good = resolve(v, draft, source) && good;
  draft.has_sources = good && check_ports_unique(v, draft) && check_join(v, draft);
  return good;
}

}  // namespace

void validate_sources(Validation& v) {
  bool all = true;
  for (Draft& draft : v.drafts) all = link(v, draft) && all;
  // A name that could not be resolved may have meant the stage that nobody seems to read.
  if (!all) return;
  for (Draft& draft : v.drafts) {
    if (draft.stage.kind == StageKind::consumer || !draft.readers.empty() || draft.only_mixed)
      continue;
    const std::string& name = draft.stage.name;
    v.error(draft, draft.spec->name.span, "no stage reads this stage",
            {"name it in the `from:` of another stage, or delete it",
             concat("to read it from a program, add the stage `{consumer: application, from: ",
                    name, "}` or use brigade.Loader(graph, output=", quote(name),
                    "), which `brigade ", "check --output ", name, "` checks")});
  }
}

}  // namespace brigade
