#pragma once

// The moment at which a run begins: every replica has opened, all replicas of a source have found
// the same number of samples, and so have sources that are zipped. From that number S and the
// domain's multiple L follow the length P of an epoch and the end of the stream. Plain data.

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "pipeline/plan/plan.h"

namespace brigade {

/// What the barrier found out about a domain.
struct DomainStart {
  int domain = 0;
  std::uint64_t samples = 0;  ///< S
  std::uint64_t period = 0;   ///< P = S rounded up to L
  friend bool operator==(const DomainStart&, const DomainStart&) = default;
};

class StartBarrier {
 public:
  /// `plan` outlives it.
  explicit StartBarrier(const Plan& plan);

  /// `replica`: number in the graph; `size`: what an indexed source reported.
  void ready(int replica, std::optional<std::uint64_t> size);
  /// It will not come, and the run goes on without it.
  void gone(int replica);
  bool complete() const { return waiting_ == 0; }
  /// "train.0, train.1": who is still opening; at most a few names.
  std::string waiting_for() const;

  /// Once complete: the domains whose sources know their size; those that are derived from them
  /// follow. Errors name the sources and both sizes, or the source that is empty.
  Result<std::vector<DomainStart>> starts() const;

  /// Also before that: as far as the first ready replica of a source tells; nothing while none is.
  std::optional<DomainStart> start_so_far(int domain) const;

 private:
  struct Replica {
    int stage = 0;
    int replica = 0;
    bool ready = false;
    bool gone = false;
    std::optional<std::uint64_t> size;
  };
  std::string name(const Replica& replica) const;
  Result<std::optional<std::uint64_t>> size_of_stage(int stage) const;
  Result<std::optional<std::uint64_t>> size_of_cache(const PlanStage& stage) const;
  Result<std::optional<DomainStart>> start_of(int domain) const;

  const Plan& plan_;
  std::vector<Replica> replicas_;  // by number in the graph
  int waiting_ = 0;
};

}  // namespace brigade
