#include "pipeline/process/source_counts.h"

namespace brigade {

SourceCounts::SourceCounts(const Plan& plan)
    : plan_(plan), by_replica_(static_cast<std::size_t>(plan.replicas)) {}

void SourceCounts::ready(int replica, std::optional<std::uint64_t> samples,
                         const std::vector<LeftOut>& left_out) {
  by_replica_[static_cast<std::size_t>(replica)] = {"", samples, left_out};
}

std::vector<SourceBook> SourceCounts::books() const {
  std::vector<SourceBook> books;
  for (const PlanStage& stage : plan_.stages) {
    if (stage.kind != StageKind::producer) continue;
    SourceBook book;
    for (int r = stage.replicas - 1; r >= 0; --r) {
      const auto number = static_cast<std::size_t>(stage.first_replica + r);
      if (by_replica_[number].gives) book = by_replica_[number];
    }
    book.name = stage.name;
    books.push_back(std::move(book));
  }
  return books;
}

void SourceCounts::say(RunLines& lines) const {
  for (const SourceBook& book : books()) {
    if (book.left_out.empty()) continue;
    lines.line(is_surprising(book) ? LineKind::warning : LineKind::note, source_text(book));
  }
}

}  // namespace brigade
