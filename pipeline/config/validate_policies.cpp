#include <algorithm>

#include "pipeline/config/key_table.h"
#include "pipeline/config/validation.h"

namespace brigade {

namespace {

template <class T, class U>
void take(const Given<T>& given, U& out) {
  if (given) out = static_cast<U>(given->value);
}

void fill(Draft& draft) {
  const StageSpec& spec = *draft.spec;
  ValidStage& stage = draft.stage;
  take(spec.replicas, stage.replicas);
  take(spec.threads, stage.threads);
  take(spec.rows, stage.rows);
  take(spec.buffers, stage.buffers);
  take(spec.on_error, stage.on_error);
  take(spec.poison_after, stage.poison_after);
  take(spec.stall, stage.stall);
  take(spec.shuffle, stage.shuffle);
  take(spec.limit, stage.limit);
  if (spec.device) stage.device = spec.device->value;
  if (spec.seed) stage.seed = spec.seed->value;
  stage.random = spec.random ? spec.random->value : stage.name;
  stage.fixed = spec.assign && spec.assign->value == "fixed";
  stage.cpus = spec.cpus;
  stage.env = spec.env;
}

// What several replicas learned is in no single place.
void check_one_saves(Validation& v, Draft& draft, bool saves) {
  if (saves && draft.stage.replicas == 0) draft.stage.replicas = 1;  // auto
  if (!saves || draft.stage.replicas == 1) return;
  v.error(draft, draft.spec->replicas->span,
          concat("with `checkpoint:` a ", quote(draft.stage.type->contract.type),
                 " saves its state, which one replica has"),
          {"leave `replicas:` out, or `checkpoint:`"});
}

// Consumers and stages that keep state cannot simply begin anew; one that saves checkpoints goes on
// from the last one.
void resolve_restart(Validation& v, Draft& draft) {
  using Policy = RestartSpec::Policy;
  const bool stateful = draft.has_type && draft.stage.type->contract.stateful;
  const bool consumer = draft.stage.kind == StageKind::consumer;
  const bool saves =
      draft.has_type && draft.stage.type->contract.saves && v.graph.checkpoint_file.has_value();
  draft.stage.restart.policy =
      (stateful || consumer) && !saves ? Policy::never : Policy::on_failure;
  check_one_saves(v, draft, saves);
  const auto& given = draft.spec->restart;
  if (!given) return;
  draft.stage.restart = given->value;
  if (!stateful || saves || given->value.policy == Policy::never) return;
  const std::string_view type = draft.stage.type->contract.type;
  if (draft.stage.type->contract.saves)
    return v.error(draft, given->span,
                   concat(quote(type), " keeps state between calls, and saves it nowhere"),
                   {"write `checkpoint: {file: PATH}` at the top level, or `restart: never`"});
  v.error(draft, given->span,
          concat(quote(type), " keeps state between calls: only `restart: never` is possible"));
}

// An epoch takes whole rounds of all replicas, so their number is part of the samples' numbers.
void check_assign(Validation& v, const Draft& draft) {
  if (!draft.stage.fixed || draft.stage.replicas != 0) return;
  v.error(draft, draft.spec->assign->span,
          "`assign: fixed` needs to know how many replicas there are",
          {"write `replicas:` as a number instead of auto"});
}

void check_sum(Validation& v) {
  std::uint64_t sum = 0;
  const Draft* most = nullptr;
  for (const Draft& draft : v.drafts) {
    sum += std::max<std::uint64_t>(draft.stage.replicas, 1);
    if (most == nullptr || draft.stage.replicas > most->stage.replicas) most = &draft;
  }
  if (sum <= kStagesMax) return;
  const auto& given = most->spec->replicas;
  v.diagnostics.error(
      given ? given->span : v.graph.stages_span,
      concat("the graph has ", sum, " replicas, at most ", kStagesMax, " are possible"));
}

}  // namespace

void validate_policies(Validation& v) {
  for (Draft& draft : v.drafts) {
    fill(draft);
    resolve_restart(v, draft);
    check_assign(v, draft);
  }
  check_sum(v);
}

}  // namespace brigade
