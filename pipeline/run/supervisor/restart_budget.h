#pragma once

// Whether and when a dead replica is restarted:
// `restart:`. Pure; the clock is the caller's.

#include <cstdint>
#include <deque>

#include "pipeline/config/graph/valid_graph.h"
#include "pipeline/run/launch/process_runner.h"

namespace brigade {

/// Whether a policy covers this way to end: `on_failure` all but a plain exit(0), `always` every
/// one. An end that nobody could see counts as a failure.
bool covers(RestartSpec::Policy policy, const Ending& ending);

/// The restarts of one replica: at most `burst` of them within `within`. The first is at once, the
/// next ones wait: `backoff`, then twice as long, and so on, at most half of `within`.
class RestartBudget {
 public:
  explicit RestartBudget(const RestartSpec& spec) : spec_(spec) {}

  struct Decision {
    bool restart = false;
    std::int64_t delay_ns = 0;
    int used = 0;  ///< restarts within the time, this one included
  };
  Decision died(const Ending& ending, std::int64_t now_ns);

 private:
  RestartSpec spec_;
  std::deque<std::int64_t> restarts_ns_;
};

}  // namespace brigade
