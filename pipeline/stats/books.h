#pragma once

// The books of a whole graph: an audit for every edge, and whether they balance. Taken once every
// replica has ended.

#include <optional>
#include <string>
#include <vector>

#include "pipeline/plan/plan.h"
#include "transports/audit.h"
#include "transports/layout.h"

namespace brigade {

struct EdgeBook {
  std::string from;
  std::string to;
  EdgeAudit audit;
};

/// One per input of every lane of every reader, in the plan's order.
std::vector<EdgeBook> audit_edges(const Plan& plan, const Control<SystemPolicy>& control);

/// Why the books do not balance, naming the edge: rows leaked, or dropped by a stage that may not
/// drop them. Nothing when they do.
std::optional<std::string> audit_failure(const Plan& plan, const Control<SystemPolicy>& control);

/// "edge a -> b: produced 10 = delivered 9 + dropped 1 + quarantined 0, leaked 0"
std::string book_text(const EdgeBook& book);

}  // namespace brigade
