#include <algorithm>
#include <numeric>
#include <utility>

#include "pipeline/config/validate/draft.h"

namespace brigade {

namespace {

// Sources before readers, else in the order of the text (Kahn 1962).
std::vector<StageNumber> sort(const Validation& v) {
  ByStage<std::size_t> open;
  for (const Draft& draft : v.drafts)
    open.push_back(draft.stage.sources.size() + draft.parts.size());
  std::vector<StageNumber> order;
  ByStage<bool> done(v.drafts.size());
  for (bool moved = true; moved;) {
    moved = false;
    for (const StageNumber i : v.drafts.numbers()) {
      if (done[i] || open[i] != 0) continue;
      done[i] = moved = true;
      order.push_back(i);
      for (const StageNumber reader : v.drafts[i].readers) --open[reader];
      for (const StageNumber mix : v.drafts[i].mixed_by) --open[mix];
    }
  }
  return order;
}

// Follows sources inside the unsorted rest until a stage comes twice: the cycle, or nothing where
// the way ends in one that was found before.
std::vector<StageNumber> cycle_from(Validation& v, StageNumber start, ByStage<bool>& seen,
                                    const ByStage<bool>& sorted) {
  std::vector<StageNumber> way;
  StageNumber at = start;
  while (!seen[at]) {
    seen[at] = true;
    way.push_back(at);
    for (const ValidSource& source : v.at(at).stage.sources) {
      if (sorted[source.stage]) continue;
      at = source.stage;
      break;
    }
  }
  const auto first = std::find(way.begin(), way.end(), at);
  return {first, way.end()};
}

void report_cycles(Validation& v) {
  ByStage<bool> sorted(v.drafts.size());
  for (const StageNumber index : v.order) sorted[index] = true;
  ByStage<bool> seen(v.drafts.size());
  for (const StageNumber i : v.drafts.numbers()) {
    if (sorted[i]) continue;
    auto cycle = cycle_from(v, i, seen, sorted);
    if (cycle.empty()) continue;
    std::rotate(cycle.begin(), std::min_element(cycle.begin(), cycle.end()), cycle.end());
    const Draft& first = v.at(cycle.front());
    std::string text = quote(first.stage.name);
    for (std::size_t k = 1; k < cycle.size(); ++k)
      text += concat(" reads ", quote(v.at(cycle[k]).stage.name), ", which");
    text += concat(" reads ", quote(first.stage.name));
    v.diagnostics.error(*first.spec->from, concat("the stages form a cycle: ", text),
                        {"remove one of these sources: samples flow in one direction"});
  }
}

StageNumber find_root(ByStage<StageNumber>& parent, StageNumber at) {
  while (parent[at] != at) {
    StageNumber& up = parent[at];
    up = parent[up];
    at = up;
  }
  return at;
}

// Under `join: epochs` one source waits until the epoch of the one before it is over. That never
// comes about when the two hold each other back: when they come from one producer or are joined
// elsewhere, or when another consumer takes them the other way round. `before` are the groups of
// stages that flow together, and which waits for which.
class EpochOrder {
 public:
  explicit EpochOrder(Validation& validation) : v(validation), parent_(v.drafts.size()) {
    std::iota(parent_.begin(), parent_.end(), StageNumber{});
    for (const StageNumber i : v.drafts.numbers()) {
      if (v.at(i).stage.join == Join::epochs) continue;
      for (const ValidSource& source : v.at(i).stage.sources)
        parent_[find_root(parent_, source.stage)] = find_root(parent_, i);
    }
    waits_.resize(v.drafts.size());
  }

  void check(Draft& draft) {
    const auto& sources = draft.stage.sources;
    for (std::size_t j = 1; j < sources.size(); ++j) {
      for (std::size_t i = 0; i < j; ++i) {
        const StageNumber first = find_root(parent_, sources[i].stage);
        const StageNumber second = find_root(parent_, sources[j].stage);
        if (first != second && !reaches(second, first)) continue;
        report(draft, i, j, first == second);
        return;
      }
    }
    for (std::size_t j = 1; j < sources.size(); ++j)
      waits_[find_root(parent_, sources[j - 1].stage)].push_back(
          find_root(parent_, sources[j].stage));
  }

 private:
  bool reaches(StageNumber from, StageNumber to) const {
    ByStage<bool> seen(waits_.size());
    std::vector<StageNumber> open{from};
    while (!open.empty()) {
      const StageNumber at = open.back();
      open.pop_back();
      if (at == to) return true;
      if (seen[at]) continue;
      seen[at] = true;
      open.insert(open.end(), waits_[at].begin(), waits_[at].end());
    }
    return false;
  }

  void report(Draft& draft, std::size_t i, std::size_t j, bool together) {
    const std::string first = quote(v.at(draft.stage.sources[i].stage).stage.name);
    const std::string second = quote(v.at(draft.stage.sources[j].stage).stage.name);
    if (together) {
      v.error(draft, draft.spec->sources[j].span,
              concat("`join: epochs`: ", first, " and ", second,
                     " would wait for each other, because both come from one producer"),
              {"give each source its own producer"});
    } else {
      v.error(
          draft, draft.spec->sources[j].span,
          concat("`join: epochs`: ", first, " before ", second,
                 " would wait forever, because another consumer reads them in the opposite order"),
          {"list the sources in the same order in both consumers"});
    }
  }

  Validation& v;
  ByStage<StageNumber> parent_;
  ByStage<std::vector<StageNumber>> waits_;
};

}  // namespace

void validate_order(Validation& v) {
  v.order = sort(v);
  if (v.order.size() < v.drafts.size()) report_cycles(v);
  EpochOrder epochs(v);
  for (Draft& draft : v.drafts)
    if (draft.stage.join == Join::epochs && draft.has_sources) epochs.check(draft);
}

}  // namespace brigade
