#include <algorithm>

#include "pipeline/config/validate/draft.h"

namespace brigade {
namespace {

/// A cache takes the first of what is above it, where its room is.
void settle_cache(Validation& v, Draft& draft) {
  const Span* const take = draft.spec->given("take");
  if (take != nullptr && draft.stage.take != Take::first)
    v.error(draft, *take, "a cache stores the first samples of its source",
            {"write `limit:` and `take:` at the producer"});
  draft.stage.take = Take::first;
}

const SplitShare* find_share(const Split& split, const std::string& part) {
  for (const SplitShare& one : split.shares)
    if (one.name == part) return &one;
  return nullptr;
}

std::vector<std::string> part_names(const Split& split) {
  std::vector<std::string> names;
  for (const SplitShare& one : split.shares) names.push_back(one.name);
  return names;
}

void check_part(Validation& v, const Draft& draft) {
  const Split& split = draft.stage.split;
  const std::string& part = draft.stage.part;
  const Span* const split_span = draft.spec->given("split");
  const Span* const part_span = draft.spec->given("part");
  if (split_span == nullptr && part_span == nullptr) return;
  for (const auto* given : {draft.spec->find("split"), draft.spec->find("part")})
    if (given != nullptr && !given->good) return;  // said already
  if (split_span == nullptr)
    return v.error(draft, *part_span, "`part` needs `split:`, which is missing",
                   {"write the same `split:` at every stage that reads a part of this source"});
  if (part_span == nullptr)
    return v.error(draft, *split_span, "`split` needs `part:`, which is missing",
                   {concat("write `part: NAME`: ", name_list(part_names(split)),
                           ", or a new name for the rest")});
  if (find_share(split, part) != nullptr) return;
  if (const auto meant = did_you_mean(part, part_names(split)))
    return v.error(draft, *part_span, concat("`split` has no part ", quote(part)),
                   {concat("did you mean ", quote(*meant), "?")});
  std::uint64_t all = 0;
  for (const SplitShare& one : split.shares) all += one.share;
  if (all == kWholeShare)
    v.error(draft, *part_span,
            concat("`split` has no part ", quote(part), ", and its shares leave no rest"),
            {concat("its parts are ", name_list(part_names(split)))});
}

bool same_source(const Draft& a, const Draft& b) {
  return a.stage.type == b.stage.type && a.stage.exec == b.stage.exec &&
         a.stage.param_values == b.stage.param_values;
}

/// Two stages that divide the same samples do it alike, or a sample is in the parts of both.
void check_pair(Validation& v, const Draft& first, const Draft& second) {
  if (!same_source(first, second)) return;
  const Split& split = second.stage.split;
  const std::string name = quote(first.spec->name.value);
  if (first.stage.split == split) {
    const std::string& part = second.stage.part;
    const bool both_rest = first.stage.part != part && find_share(split, part) == nullptr &&
                           find_share(split, first.stage.part) == nullptr;
    if (both_rest)
      v.error(second, *second.spec->given("part"),
              concat(quote(part), " and ", quote(first.stage.part), " of stage ", name,
                     " would both be the rest of `split:`, which is the same samples"),
              {concat("give one of them a share: `split: {", part, ": 0.1, ...}` at both stages")});
    if (first.stage.skip == second.stage.skip) return;
  }
  v.error(second, *second.spec->given("split"),
          concat("stage ", name,
                 " divides the same samples differently: some samples would be in both parts"),
          {"write the same `split:` and `skip:` at both"});
}

}  // namespace

void validate_subsets(Validation& v) {
  std::vector<const Draft*> divided;
  for (Draft& draft : v.drafts) {
    if (!draft.has_type) continue;
    if (draft.stage.type->contract.cache) settle_cache(v, draft);
    if (draft.stage.kind != StageKind::producer) continue;
    check_part(v, draft);
    if (draft.spec->given("split") == nullptr || draft.spec->given("part") == nullptr) continue;
    if (draft.has_params)
      for (const Draft* const first : divided) check_pair(v, *first, draft);
    divided.push_back(&draft);
  }
}

}  // namespace brigade
