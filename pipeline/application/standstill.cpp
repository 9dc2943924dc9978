#include "pipeline/application/standstill.h"

#include <algorithm>

#include <brigade/text.h>
#include "base/clock.h"
#include "pipeline/report/leases.h"
#include "transports/audit.h"

namespace brigade {
namespace {

constexpr std::int64_t kLookEveryNs = 400'000'000;
constexpr std::int64_t kStandsStillNs = 900'000'000;

/// Whether what a stage waits for stands behind a full ring. A live source with nothing to give is
/// no reason.
bool is_behind_a_full_ring(const Plan& plan, const std::vector<ReplicaLease>& leases,
                           StageNumber stage) {
  for (const PlanQueue& queue : plan.stages[stage].queues) {
    for (const PlanInput& input : queue.inputs) {
      const auto some = [&](Standing standing) {
        return std::any_of(leases.begin(), leases.end(), [&](const ReplicaLease& lease) {
          return lease.stage == input.stage && lease.standing == standing;
        });
      };
      if (some(Standing::needs_memory)) return true;
      if (some(Standing::needs_input) && is_behind_a_full_ring(plan, leases, input.stage))
        return true;
    }
  }
  return false;
}

}  // namespace

void Standstill::begin(std::int64_t now_ns) {
  looked_ns_ = now_ns;
  still_since_ns_ = 0;
}

bool Standstill::found() {
  const std::int64_t now = monotonic_ns();
  if (now - looked_ns_ < kLookEveryNs) return false;
  looked_ns_ = now;
  std::uint64_t moved = 0;
  const std::vector<ReplicaLease> leases = read_leases(*context_.plan, *context_.control, now);
  bool waiting = context_.stage->is_input() ||
                 is_behind_a_full_ring(*context_.plan, leases, context_.stage_index);
  for (const ReplicaLease& lease : leases) {
    const PlanStage& other = context_.plan->stages[lease.stage];
    for (const QueueNumber queue : other.queues.numbers())
      moved += queue_level(*context_.control, lease.stage, queue);
    waiting &= other.is_application() || lease.standing == Standing::needs_memory ||
               lease.standing == Standing::needs_input;
  }
  if (still_since_ns_ == 0 || moved != moved_ || !waiting) still_since_ns_ = now;
  moved_ = moved;
  return now - still_since_ns_ >= kStandsStillNs;
}

std::vector<std::string> Standstill::unread() const {
  std::vector<std::string> names;
  for (const ReplicaLease& lease : read_leases(*context_.plan, *context_.control, monotonic_ns())) {
    const PlanStage& other = context_.plan->stages[lease.stage];
    if (other.is_output() && lease.standing != Standing::needs_input) names.push_back(other.name);
  }
  return names;
}

std::string Standstill::text(std::string_view what_to_do, std::string otherwise) const {
  std::vector<std::string> names = unread();
  if (names.empty() && !otherwise.empty()) return otherwise;
  if (names.empty())
    return standstill_text(*context_.plan, *context_.control,
                           read_leases(*context_.plan, *context_.control, monotonic_ns()));
  for (std::string& name : names) name = quote(name);
  return concat("it is blocked by batches that the program has not read from ",
                join(names, ", ", " and "), "; ", what_to_do);
}

}  // namespace brigade
