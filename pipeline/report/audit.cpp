#include "pipeline/report/audit.h"

#include <brigade/text.h>

namespace brigade {
namespace {

using Words = Control<SystemPolicy>;

// An empty slot in one input of a zip drops the slot of every other input; so does a batch that was
// too short there.
bool another_input_has_empty_slots(const Words& control, const PlanQueue& queue,
                                   StageNumber writer) {
  for (const PlanInput& input : queue.inputs) {
    if (input.stage == writer) continue;
    const SlotCounts counts = queue_counts(control, input.stage, 0);
    if (counts.empty_slots + counts.dropped != 0) return true;
  }
  return false;
}

std::optional<std::string> failure(const Plan& plan, const Words& control, StageNumber reader,
                                   QueueNumber queue, const NamedEdgeAudit& edge,
                                   StageNumber writer) {
  if (edge.audit.leaked != 0) return concat(audit_text(edge), ": slots were not released");
  const PlanStage& stage = plan.stages[reader];
  if (stage.may_drop || stage.drop_last) return std::nullopt;
  const PlanQueue& planned = stage.queues[queue];
  if (another_input_has_empty_slots(control, planned, writer)) return std::nullopt;
  const std::uint64_t skips = control.stages[reader].skips.size();
  if (edge.audit.dropped <= skips) return std::nullopt;
  return concat(audit_text(edge), ": ", stage.name, " may not drop samples, but skipped ", skips);
}

// A flat_map stage makes 1 to k of each sample that it takes; what it was
// working on when it was put into quarantine may have some as well.
std::optional<std::string> flat_map_failure(const Plan& plan, const Words& control,
                                            StageNumber stage) {
  const PlanStage& planned = plan.stages[stage];
  if (planned.flat_map_outputs == 0) return std::nullopt;
  std::uint64_t taken = 0;
  std::uint64_t unfinished = 0;
  for (const QueueNumber queue : planned.queues.numbers(1)) {
    taken += full_slots(control, stage, queue);
    unfinished += queue_counts(control, stage, queue).quarantined;
  }
  const std::uint64_t made = full_slots(control, stage, 0);
  if (made >= taken && made <= (taken + unfinished) * planned.flat_map_outputs) return std::nullopt;
  return concat("stage ", planned.name, " output ", format_count(made), " samples for ",
                format_count(taken), " inputs, expected ",
                planned.flat_map_outputs == 1
                    ? "one for each"
                    : concat("1 to ", planned.flat_map_outputs, " for each"));
}

template <class Visit>
void for_each_edge(const Plan& plan, const Words& control, Visit visit) {
  for (const StageNumber reader : plan.stages.numbers()) {
    const PlanStage& stage = plan.stages[reader];
    for (const QueueNumber queue : stage.queues.numbers()) {
      for (const PlanInput& input : stage.queues[queue].inputs) {
        const NamedEdgeAudit edge{plan.stages[input.stage].name, stage.name,
                                  audit_edge(control, input.stage, reader, queue)};
        visit(edge, reader, queue, input.stage);
      }
    }
  }
}

}  // namespace

std::vector<NamedEdgeAudit> audit_edges(const Plan& plan, const Control<SystemPolicy>& control) {
  std::vector<NamedEdgeAudit> audits;
  for_each_edge(plan, control,
                [&](const NamedEdgeAudit& edge, auto...) { audits.push_back(edge); });
  return audits;
}

std::optional<std::string> audit_failure(const Plan& plan, const Control<SystemPolicy>& control) {
  std::optional<std::string> first;
  for_each_edge(
      plan, control,
      [&](const NamedEdgeAudit& edge, StageNumber reader, QueueNumber queue, StageNumber writer) {
        if (!first) first = failure(plan, control, reader, queue, edge, writer);
      });
  for (const StageNumber stage : plan.stages.numbers())
    if (!first) first = flat_map_failure(plan, control, stage);
  return first;
}

std::string audit_text(const NamedEdgeAudit& edge) {
  const EdgeAudit& audit = edge.audit;
  return concat("edge ", edge.from, " -> ", edge.to, ": produced ", format_count(audit.produced),
                " = delivered ", format_count(audit.delivered), " + dropped ",
                format_count(audit.dropped),
                audit.unread > 0 ? concat(" + unread ", format_count(audit.unread))
                                 : concat(" + quarantined ", format_count(audit.quarantined)),
                ", leaked ", audit.leaked);
}

}  // namespace brigade
