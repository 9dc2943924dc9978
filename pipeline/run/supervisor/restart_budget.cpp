#include "pipeline/run/supervisor/restart_budget.h"

#include <algorithm>

namespace brigade {

bool covers(RestartSpec::Policy policy, const Ending& ending) {
  switch (policy) {
    case RestartSpec::Policy::never:
      return false;
    case RestartSpec::Policy::on_failure:
      return !ending.clean();
    case RestartSpec::Policy::always:
      return true;
  }
  return false;
}

RestartBudget::Decision RestartBudget::died(const Ending& ending, std::int64_t now_ns) {
  while (!restarts_ns_.empty() && now_ns - restarts_ns_.front() > spec_.within_ns) {
    restarts_ns_.pop_front();
  }
  Decision decision;
  decision.used = static_cast<int>(restarts_ns_.size());
  if (!covers(spec_.policy, ending) || decision.used >= spec_.burst) return decision;
  const std::int64_t longest = std::max(spec_.within_ns / 2, spec_.backoff_ns);
  for (int i = 0; i < decision.used && decision.delay_ns < longest; ++i) {
    decision.delay_ns = decision.delay_ns == 0 ? spec_.backoff_ns : 2 * decision.delay_ns;
  }
  decision.delay_ns = std::min(decision.delay_ns, longest);
  decision.restart = true;
  ++decision.used;
  restarts_ns_.push_back(now_ns);
  return decision;
}

}  // namespace brigade
