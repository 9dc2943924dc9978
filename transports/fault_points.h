#pragma once

// Named places in the protocol where a test can stop, kill or delay a process. In production a
// point is one predicted branch on a process-private flag. Armed by BRIGADE_FAULT="POINT:N:ACTION"
// in a worker's environment: at the Nth passage of POINT do ACTION (kill, stop).

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/export.h"

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
  wake_before_bell,
  wake_after_bell,
  journal_before_commit,
  journal_after_commit,
  repair_settled,
  repair_reopened,
  repair_advanced,
  repair_cleared,
  repair_counted,
  count_  // not a point
};

std::string_view fault_point_name(FaultPoint point);
std::optional<FaultPoint> parse_fault_point(std::string_view name);

namespace detail {
extern BRIGADE_API bool fault_armed;  // process-private, set before the loop starts
void fault_hit(FaultPoint point);
}  // namespace detail

/// Arms this process from text as above; false when the text is malformed.
bool arm_fault(std::string_view text);

inline void fault_point(FaultPoint point) {
  if (detail::fault_armed) [[unlikely]]
    detail::fault_hit(point);
}

}  // namespace brigade
