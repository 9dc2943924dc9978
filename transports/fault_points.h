#pragma once

// Named places in the protocol where a test can stop, kill or delay a process. In production a
// point is one predicted branch on a process-private flag. Armed in a worker's environment by
// BRIGADE_FAULT="POINT:N:ACTION", done at the Nth passage of POINT; with "N+" in place of N there
// and at every Nth passage after it. Actions:
//
//   kill   SIGKILL
//   stop   SIGSTOP: the process continues after SIGCONT
//   delay  sleeps for kFaultDelayMaxUs at most, each time for another while
//   nap    the same, for kFaultNapMaxUs at most

#include <cstdint>
#include <optional>
#include <string_view>

#include <brigade/export.h>

namespace brigade {

enum class FaultPoint : std::uint8_t {
  claim_start,
  claim_before_cas,
  claim_after_cas,
  work_start,
  finish_start,
  finish_after_tally,
  finish_after_done,
  advance_loop,
  advance_before_cas,
  advance_after_cas,
  wait_before_bit,
  wait_after_bit,
  wait_before_sleep,
  wait_before_clear,
  wake_before_load,
  wake_before_doorbell,
  wake_after_doorbell,
  journal_before_commit,
  journal_after_commit,
  repair_settled,
  repair_reopened,
  repair_advanced,
  repair_cleared,
  repair_counted,
  count_  // not a point
};

inline constexpr std::uint64_t kFaultDelayMaxUs = 500;
inline constexpr std::uint64_t kFaultNapMaxUs = 10'000;

/// Points before it are passed by workers, it and those after it by the supervisor.
inline constexpr FaultPoint kFirstPointOfRepair = FaultPoint::repair_settled;

std::string_view fault_point_name(FaultPoint point);
std::optional<FaultPoint> parse_fault_point(std::string_view name);

namespace detail {
extern BRIGADE_API bool fault_armed;  // process-private, set before the loop starts
void fault_hit(FaultPoint point);
}  // namespace detail

/// Arms this process from text as above; false when the text is malformed.
bool arm_fault(std::string_view text);
void disarm_fault();

inline void fault_point(FaultPoint point) {
  if (detail::fault_armed) [[unlikely]]
    detail::fault_hit(point);
}

}  // namespace brigade
