#pragma once

// First step of the planner: the task queues of every stage and the index spaces that number their
// samples.
//
// A task queue is a task table with a watermark. A stage has one; a consumer under `join: epochs`
// or `merge` has one per source, so that a task never mixes inputs. An index space numbers
// samples: the producers joined by zips, and every task queue below them. Below stages that make
// k samples of each there is an index space derived from it, whose numbers are k for each of its
// own; all branches with the same k share it, so that they can be zipped. Pure functions.

#include "pipeline/plan/plan.h"
#include "pipeline/plan/plan_problem.h"

namespace brigade {

/// The task queue of a stage that reads its source `i`.
inline QueueNumber queue_of_source(const PlanStage& stage, std::size_t i) {
  const std::size_t first = stage.has_output_queue() ? 1 : 0;
  return QueueNumber(stage.queues.size() > first + 1 ? first + i : first);
}

/// Sets task queues (their inputs) and fan-out of every stage and the readers of every ring.
/// plan.stages has one entry per stage of the graph. Task sizes and windows come later.
void make_task_queues(const ValidGraph& graph, Plan& plan);

/// Sets plan.index_spaces (all but their multiples) and the index space of every task queue and
/// ring. A problem where a zip has sources that are numbered differently, and where `join: epochs`
/// would stand still for ever: a stage reads one index space to the end of an epoch before it
/// touches the next, so index spaces must have an order in which all such stages agree, and no
/// stage may wait for an index space that it holds up itself.
void number_index_spaces(const ValidGraph& graph, Plan& plan, PlanProblems& problems);

/// The index space that `index_space` is derived from; itself where it is not derived.
inline IndexSpaceNumber root_index_space(const Plan& plan, IndexSpaceNumber index_space) {
  const IndexSpaceNumber above = plan.index_spaces[index_space].above;
  return above < 0 ? index_space : above;
}

}  // namespace brigade
