#include <algorithm>
#include <numeric>
#include <utility>

#include "pipeline/config/validation.h"

namespace brigade {

namespace {

// Sources before readers, else in the order of the text (Kahn 1962).
std::vector<int> sort(const Validation& v) {
  const auto count = static_cast<int>(v.drafts.size());
  std::vector<int> open(v.drafts.size());
  for (std::size_t i = 0; i < v.drafts.size(); ++i)
    open[i] = static_cast<int>(v.drafts[i].stage.sources.size());
  std::vector<int> order;
  std::vector<bool> done(v.drafts.size());
  for (bool moved = true; moved;) {
    moved = false;
    for (int i = 0; i < count; ++i) {
      const auto index = static_cast<std::size_t>(i);
      if (done[index] || open[index] != 0) continue;
      done[index] = moved = true;
      order.push_back(i);
      for (const int reader : v.drafts[index].readers) --open[static_cast<std::size_t>(reader)];
    }
  }
  return order;
}

// Follows sources inside the unsorted rest until a stage comes twice: the circle, or nothing where
// the way ends in one that was found before.
std::vector<int> circle_from(Validation& v, int start, std::vector<int>& seen,
                             const std::vector<bool>& sorted) {
  std::vector<int> way;
  int at = start;
  while (seen[static_cast<std::size_t>(at)] == 0) {
    seen[static_cast<std::size_t>(at)] = start + 1;
    way.push_back(at);
    for (const ValidSource& source : v.at(at).stage.sources) {
      if (sorted[static_cast<std::size_t>(source.stage)]) continue;
      at = source.stage;
      break;
    }
  }
  const auto first = std::find(way.begin(), way.end(), at);
  return {first, way.end()};
}

void report_circles(Validation& v) {
  std::vector<bool> sorted(v.drafts.size());
  for (const int index : v.order) sorted[static_cast<std::size_t>(index)] = true;
  std::vector<int> seen(v.drafts.size());
  for (int i = 0; i < static_cast<int>(v.drafts.size()); ++i) {
    if (sorted[static_cast<std::size_t>(i)]) continue;
    auto circle = circle_from(v, i, seen, sorted);
    if (circle.empty()) continue;
    std::rotate(circle.begin(), std::min_element(circle.begin(), circle.end()), circle.end());
    const Draft& first = v.at(circle.front());
    std::string text = quote(first.stage.name);
    for (std::size_t k = 1; k < circle.size(); ++k)
      text += concat(" reads ", quote(v.at(circle[k]).stage.name), ", which");
    text += concat(" reads ", quote(first.stage.name));
    v.diagnostics.error(*first.spec->from, concat("a circle: ", text),
                        {"samples flow one way: take one of these sources away"});
  }
}

int find_root(std::vector<int>& parent, int at) {
  while (parent[static_cast<std::size_t>(at)] != at) {
    int& up = parent[static_cast<std::size_t>(at)];
    up = parent[static_cast<std::size_t>(up)];
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
    std::iota(parent_.begin(), parent_.end(), 0);
    for (int i = 0; i < static_cast<int>(v.drafts.size()); ++i) {
      if (v.at(i).stage.join == Join::epochs) continue;
      for (const ValidSource& source : v.at(i).stage.sources)
        parent_[index(find_root(parent_, source.stage))] = find_root(parent_, i);
    }
    waits_.resize(v.drafts.size());
  }

  void check(Draft& draft) {
    const auto& sources = draft.stage.sources;
    for (std::size_t j = 1; j < sources.size(); ++j) {
      for (std::size_t i = 0; i < j; ++i) {
        const int first = find_root(parent_, sources[i].stage);
        const int second = find_root(parent_, sources[j].stage);
        if (first != second && !reaches(second, first)) continue;
        report(draft, i, j, first == second);
        return;
      }
    }
    for (std::size_t j = 1; j < sources.size(); ++j)
      waits_[index(find_root(parent_, sources[j - 1].stage))].push_back(
          find_root(parent_, sources[j].stage));
  }

 private:
  static std::size_t index(int i) { return static_cast<std::size_t>(i); }

  bool reaches(int from, int to) const {
    std::vector<bool> seen(waits_.size());
    std::vector<int> open{from};
    while (!open.empty()) {
      const int at = open.back();
      open.pop_back();
      if (at == to) return true;
      if (seen[index(at)]) continue;
      seen[index(at)] = true;
      open.insert(open.end(), waits_[index(at)].begin(), waits_[index(at)].end());
    }
    return false;
  }

  void report(Draft& draft, std::size_t i, std::size_t j, bool together) {
    const std::string first = quote(v.at(draft.stage.sources[i].stage).stage.name);
    const std::string second = quote(v.at(draft.stage.sources[j].stage).stage.name);
    if (together) {
      v.error(draft, draft.spec->sources[j].span,
              concat("under `join: epochs`, ", first, " and ", second,
                     " would wait for each other: they are fed together"),
              {"give each its own producer"});
    } else {
      v.error(draft, draft.spec->sources[j].span,
              concat("under `join: epochs`, ", first, " before ", second,
                     " would wait forever: another consumer reads them in another order"),
              {"use the same order in both"});
    }
  }

  Validation& v;
  std::vector<int> parent_;
  std::vector<std::vector<int>> waits_;
};

}  // namespace

void validate_order(Validation& v) {
  v.order = sort(v);
  if (v.order.size() < v.drafts.size()) report_circles(v);
  EpochOrder epochs(v);
  for (Draft& draft : v.drafts)
    if (draft.stage.join == Join::epochs && draft.has_sources) epochs.check(draft);
}

}  // namespace brigade
