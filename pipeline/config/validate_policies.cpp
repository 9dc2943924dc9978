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

// Consumers and stages that keep state cannot simply begin anew.
void resolve_restart(Validation& v, Draft& draft) {
  using Policy = RestartSpec::Policy;
  const bool stateful = draft.has_type && draft.stage.type->contract.stateful;
  const bool consumer = draft.stage.kind == StageKind::consumer;
  draft.stage.restart.policy = stateful || consumer ? Policy::never : Policy::on_failure;
  const auto& given = draft.spec->restart;
  if (!given) return;
  draft.stage.restart = given->value;
  if (stateful && given->value.policy != Policy::never)
    v.error(draft, given->span,
            concat(quote(draft.stage.type->contract.type),
                   " keeps state between calls: only `restart: never` is possible"));
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
