#include <algorithm>

#include "pipeline/config/language/key_table.h"
#include "pipeline/config/validate/draft.h"

namespace brigade {

namespace {

void check_one_learns(Validation& v, Draft& draft) {
  if (draft.stage.replicas == 0) draft.stage.replicas = 1;  // auto
  if (draft.stage.replicas == 1) return;
  v.error(draft, *draft.spec->given("replicas"),
          concat(quote(draft.stage.type->contract.type), " trains one model in one process, found ",
                 draft.stage.replicas, " replicas"),
          {"omit `replicas:`; use `threads:` to give the process more cores"});
}

// What several replicas learned is in no single place.
void check_one_saves(Validation& v, Draft& draft, bool saves) {
  if (is_classifier(draft)) return check_one_learns(v, draft);
  if (saves && draft.stage.replicas == 0) draft.stage.replicas = 1;  // auto
  if (!saves || draft.stage.replicas == 1) return;
  v.error(draft, *draft.spec->given("replicas"),
          concat("with `checkpoint:`, ", quote(draft.stage.type->contract.type),
                 " saves the state of one replica"),
          {"omit `replicas:` or `checkpoint:`"});
}

// Consumers and stages that keep state cannot simply begin anew; one that saves checkpoints resumes
// from the last one.
void resolve_restart(Validation& v, Draft& draft) {
  using Policy = RestartSpec::Policy;
  const bool stateful = draft.has_type && draft.stage.type->contract.stateful;
  const bool consumer = draft.stage.kind == StageKind::consumer;
  const bool saves =
      draft.has_type && draft.stage.type->contract.saves && v.graph.checkpoint_file.has_value();
  check_one_saves(v, draft, saves);
  const Span* given = draft.spec->given("restart");
  RestartSpec& restart = draft.stage.restart;
  if (given == nullptr && (stateful || consumer) && !saves) restart.policy = Policy::never;
  if (given == nullptr || !stateful || saves || restart.policy == Policy::never) return;
  const std::string_view type = draft.stage.type->contract.type;
  if (draft.stage.type->contract.saves)
    return v.error(draft, *given,
                   concat(quote(type), " keeps state between calls, but does not save it"),
                   {"write `checkpoint: {file: PATH}` at the top level, or `restart: never`"});
  v.error(draft, *given, concat(quote(type), " keeps state between calls: write `restart: never`"));
}

// Whoever trains by a consumer of their own would miss the weights only when they are needed.
void warn_of_unsaved(Validation& v, const Draft& draft) {
  if (!v.graph.checkpoint_file || !draft.has_type || draft.stage.kind != StageKind::consumer)
    return;
  const StageContract& contract = draft.stage.type->contract;
  if (contract.saves || contract.application) return;
  v.warning(draft, type_span(draft),
            "`checkpoint:` saves the position of this consumer, but not what it has learned",
            {draft.spec->exec || is_python(draft)
                 ? "save the learned state in the program itself, in its own file"
                 : concat(quote(contract.type),
                          " has no `saves()` in its contract; add it and save the state in save() "
                          "(`brigade docs STAGES`)")});
}

// An epoch takes whole rounds of all replicas, so their number is part of the samples' numbers.
void check_assign(Validation& v, const Draft& draft) {
  if (!draft.stage.fixed || draft.stage.replicas != 0) return;
  v.error(draft, *draft.spec->given("assign"), "`assign: fixed` needs a fixed number of replicas",
          {"write `replicas:` as a number instead of auto"});
}

// A program is one replica, which nobody starts, watches or ends.
void check_application(Validation& v, const Draft& draft) {
  if (!draft.has_type) return;
  const bool application = draft.stage.type->contract.application;
  const Span* hold = draft.spec->given("hold");
  if (!application && !draft.stage.type->contract.holds && hold != nullptr)
    v.error(
        draft, *hold,
        "`hold:` applies to `consumer: application` and to consumers that keep batches",
        {concat("remove it; on a command line: `--set stages.", draft.stage.name, ".hold=null`")});
  const Span* const timeout = draft.spec->given("hold_timeout");
  if (!application && timeout != nullptr)
    v.error(draft, *timeout,
            "`hold_timeout:` applies to `consumer: application` and `producer: application`",
            {concat("remove it; on a command line: `--set stages.", draft.stage.name,
                    ".hold_timeout=null`")});
  const Span* const pin = draft.spec->given("pin");
  if (!application && !draft.stage.type->contract.pins() && pin != nullptr)
    v.error(draft, *pin, "`pin:` applies to stages that copy batches to a GPU",
            {"remove it; `torch_classifier` and `to_device` are such stages"});
  else if (draft.stage.pin == Pin::yes && draft.stage.type->contract.uploads &&
           !draft.stage.device_memory)
    v.error(draft, *pin,
            "`pin: yes` needs tensors that go to a GPU, but without `memory: device` none do",
            {"write `memory: device`, or omit `pin:`"});
  else if (draft.stage.pin == Pin::yes && draft.stage.device == "cpu")
    v.error(draft, *pin, "`pin: yes` needs a GPU, but this stage runs on the CPU",
            {"write `device: cuda`, or omit `pin:`"});
  const GivenKey* const tensors = draft.spec->find("tensors");
  if (!application && !draft.spec->exec && tensors != nullptr &&
      draft.stage.kind != StageKind::consumer)
    v.error(draft, tensors->span, "`tensors:` applies to `producer: application` and to `exec:`");
  const Span* const count = draft.spec->given("count");
  const bool counted = draft.stage.kind == StageKind::producer || draft.stage.type->contract.cache;
  if (count != nullptr && !draft.spec->exec && !is_python(draft) && counted)
    v.error(draft, *count, "`count:` applies to `exec:`",
            {"omit it: a stage type counts its own samples; use `limit:` to read fewer"});
  if (!application) return;
  for (const KeySpec& key : key_table()) {
    if (key.scope != KeyScope::stage || !key.of_processes) continue;
    if (const Span* given = draft.spec->given(key.name))
      v.error(draft, *given,
              concat("`", key.name, ":` applies to stages that run in their own processes; an ",
                     "application is the program that starts the graph"));
  }
  if (!v.graph.checkpoint_file) return;
  const bool feeds = draft.stage.kind == StageKind::producer;
  v.diagnostics.error(
      v.graph.checkpoint_file->span,
      feeds ? concat("`checkpoint:` resumes in the middle of the data, but stage ",
                     quote(draft.spec->name.value),
                     " is fed by a program, whose data cannot be read again")
            : concat("`checkpoint:` saves the state of a consumer, but stage ",
                     quote(draft.spec->name.value), " is a program, which saves its own state"),
      {"omit `checkpoint:`"});
}

void check_sum(Validation& v) {
  std::uint64_t sum = 0;
  const Draft* most = nullptr;
  for (const Draft& draft : v.drafts) {
    sum += std::max<std::uint64_t>(draft.stage.replicas, 1);
    if (most == nullptr || draft.stage.replicas > most->stage.replicas) most = &draft;
  }
  if (sum <= kStagesMax) return;
  const Span* given = most->spec->given("replicas");
  v.diagnostics.error(given != nullptr ? *given : v.graph.stages_span,
                      concat("the graph has ", sum, " replicas, expected at most ", kStagesMax));
}

}  // namespace

void validate_policies(Validation& v) {
  for (Draft& draft : v.drafts) {
    if (draft.stage.random.empty()) draft.stage.random = draft.stage.name;
    resolve_restart(v, draft);
    warn_of_unsaved(v, draft);
    check_assign(v, draft);
    check_application(v, draft);
  }
  check_sum(v);
}

}  // namespace brigade
