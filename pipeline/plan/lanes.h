#pragma once

// First step of the planner: the lanes of every stage and the domains that number their samples.
//
// A lane is a task table with a low-water mark. A stage has one; a consumer under `join: epochs` or
// `merge` has one per source, so that a task never mixes inputs. A domain is what counts samples:
// the producers joined by zips, and every lane below them. Pure functions.

#include "pipeline/plan/plan.h"
#include "pipeline/plan/plan_problem.h"

namespace brigade {

/// Sets lanes (their inputs) of every stage and the readers of every pool. plan.stages has one
/// entry per stage of the graph. Task sizes and windows come later.
void make_lanes(const ValidGraph& graph, Plan& plan);

/// Sets plan.domains (their sources) and the domain of every lane. A problem where `join: epochs`
/// would stand still for ever: a stage reads one domain to the end of an epoch before it touches
/// the next, so domains must have an order in which all such stages agree, and no stage may wait
/// for a domain that it holds up itself.
void number_domains(const ValidGraph& graph, Plan& plan, PlanProblems& problems);

/// The domain that numbers the rows of a stage's pool: that of its only lane.
inline int pool_domain(const PlanStage& stage) { return stage.lanes.front().domain; }

/// Streams (producers of unknown length) number a domain alone, by one replica, in one epoch; and
/// nobody can read an epoch of theirs to its end. Sets their max_wait: the smallest below them.
void check_streams(const ValidGraph& graph, Plan& plan, PlanProblems& problems);

}  // namespace brigade
