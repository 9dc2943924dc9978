#include "pipeline/stats/books.h"

#include "base/text.h"

namespace brigade {
namespace {

using Words = Control<SystemPolicy>;

const PlanStage& stage_of(const Plan& plan, int stage) {
  return plan.stages[static_cast<std::size_t>(stage)];
}

// A hole in one input of a zip drops the row of every other input; so does a batch that was too
// short there.
bool another_input_has_holes(const Words& control, const PlanLane& lane, int writer) {
  for (const PlanInput& input : lane.inputs) {
    if (input.stage == writer) continue;
    const RowCounts counts = lane_counts(control, input.stage, 0);
    if (counts.holes + counts.dropped != 0) return true;
  }
  return false;
}

std::optional<std::string> failure(const Plan& plan, const Words& control, int reader, int lane,
                                   const EdgeBook& book, int writer) {
  if (book.audit.leaked != 0) return concat(book_text(book), ": rows were left behind");
  const PlanStage& stage = stage_of(plan, reader);
  if (stage.may_drop || stage.drop_last) return std::nullopt;
  const PlanLane& planned = stage.lanes[static_cast<std::size_t>(lane)];
  if (another_input_has_holes(control, planned, writer)) return std::nullopt;
  const std::uint64_t skips = control.stages[static_cast<std::size_t>(reader)].skips.size();
  if (book.audit.dropped <= skips) return std::nullopt;
  return concat(book_text(book), ": ", stage.name, " may not drop samples, and skipped ", skips);
}

// A stage that numbers its outputs freely makes 1 to k of each sample that it takes; what it was
// working on when it was put into quarantine may have some as well.
std::optional<std::string> free_failure(const Plan& plan, const Words& control, int stage) {
  const PlanStage& planned = stage_of(plan, stage);
  if (planned.free_outputs == 0) return std::nullopt;
  std::uint64_t taken = 0;
  std::uint64_t unfinished = 0;
  for (int lane = 1; lane < static_cast<int>(planned.lanes.size()); ++lane) {
    taken += full_rows(control, stage, lane);
    unfinished += lane_counts(control, stage, lane).quarantined;
  }
  const std::uint64_t made = full_rows(control, stage, 0);
  if (made >= taken && made <= (taken + unfinished) * planned.free_outputs) return std::nullopt;
  return concat(
      "stage ", planned.name, " made ", format_count(made), " samples of ", format_count(taken),
      ", expected ",
      planned.free_outputs == 1 ? "as many" : concat("1 to ", planned.free_outputs, " of each"));
}

template <class Visit>
void for_each_edge(const Plan& plan, const Words& control, Visit visit) {
  for (int reader = 0; reader < static_cast<int>(plan.stages.size()); ++reader) {
    const PlanStage& stage = stage_of(plan, reader);
    for (int lane = 0; lane < static_cast<int>(stage.lanes.size()); ++lane) {
      for (const PlanInput& input : stage.lanes[static_cast<std::size_t>(lane)].inputs) {
        const EdgeBook book{stage_of(plan, input.stage).name, stage.name,
                            audit_edge(control, input.stage, reader, lane)};
        visit(book, reader, lane, input.stage);
      }
    }
  }
}

}  // namespace

std::vector<EdgeBook> audit_edges(const Plan& plan, const Control<SystemPolicy>& control) {
  std::vector<EdgeBook> books;
  for_each_edge(plan, control, [&](const EdgeBook& book, int, int, int) { books.push_back(book); });
  return books;
}

std::optional<std::string> audit_failure(const Plan& plan, const Control<SystemPolicy>& control) {
  std::optional<std::string> first;
  for_each_edge(plan, control, [&](const EdgeBook& book, int reader, int lane, int writer) {
    if (!first) first = failure(plan, control, reader, lane, book, writer);
  });
  for (int stage = 0; !first && stage < static_cast<int>(plan.stages.size()); ++stage)
    first = free_failure(plan, control, stage);
  return first;
}

std::string book_text(const EdgeBook& book) {
  const EdgeAudit& audit = book.audit;
  return concat("edge ", book.from, " -> ", book.to, ": produced ", format_count(audit.produced),
                " = delivered ", format_count(audit.delivered), " + dropped ",
                format_count(audit.dropped), " + quarantined ", format_count(audit.quarantined),
                ", leaked ", audit.leaked);
}

}  // namespace brigade
