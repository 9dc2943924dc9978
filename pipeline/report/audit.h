#pragma once

// The audit of a whole graph, edge by edge, and whether
// it balances. Computed once every replica has ended.

#include <optional>
#include <string>
#include <vector>

#include "pipeline/plan/plan.h"
#include "transports/audit.h"
#include "transports/layout.h"

namespace brigade {

struct NamedEdgeAudit {
  std::string from;
  std::string to;
  EdgeAudit audit;
};

/// One per input of every task queue of every reader, in the plan's order.
std::vector<NamedEdgeAudit> audit_edges(const Plan& plan, const Control<SystemPolicy>& control);

/// Why the audit does not balance, naming the edge: slots leaked, or dropped by a stage that may
/// not drop them. Nothing when they do.
std::optional<std::string> audit_failure(const Plan& plan, const Control<SystemPolicy>& control);

/// "edge a -> b: produced 10 = delivered 9 + dropped 1 + quarantined 0, leaked 0"
std::string audit_text(const NamedEdgeAudit& edge);

}  // namespace brigade
