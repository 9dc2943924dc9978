#include "pipeline/config/validate/draft.h"

namespace brigade {

namespace {

/// Stages above a cache (and below the next one) whose outputs depend on random draws.
std::vector<std::string> drawing_above(Validation& v, const Draft& cache) {
  ByStage<bool> above(v.drafts.size());
  for (const ValidSource& source : cache.stage.sources) above[source.stage] = true;
  std::vector<std::string> names;
  for (auto at = v.order.rbegin(); at != v.order.rend(); ++at) {
    const Draft& draft = v.at(*at);
    if (!above[*at] || !draft.has_params) continue;
    const StageContract& contract = draft.stage.type->contract;
    if (contract.cache) continue;
    for (const ValidSource& source : draft.stage.sources) above[source.stage] = true;
    if (contract.draws && contract.draws(draft.stage.params.get()))
      names.insert(names.begin(), quote(draft.stage.name));
  }
  return names;
}

bool is_cache(const Draft& draft) { return draft.has_type && draft.stage.type->contract.cache; }

}  // namespace

void validate_caches(Validation& v) {
  for (Draft& draft : v.drafts) {
    if (!is_cache(draft) || !draft.has_sources) continue;
    if (draft.stage.fixed)
      v.error(draft, *draft.spec->given("assign"),
              "`assign: fixed` cannot be combined with a cache, whose replicas both store and read "
              "samples");
    const std::vector<std::string> names = drawing_above(v, draft);
    if (names.empty()) continue;
    v.warning(draft, type_span(draft),
              concat(join(names, ", ", " and "), names.size() == 1 ? " draws" : " draw",
                     " random values upstream of the cache: the cache freezes them for all epochs"),
              {"place random augmentation downstream of the cache"});
  }
}

}  // namespace brigade
