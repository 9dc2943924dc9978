#pragma once

// What arm_fault() of fault_points.h is told, by a test: "POINT:N:ACTION" is done at the Nth
// passage of POINT; with "N+" in place of N there and at every Nth passage after it. Actions:
//
//   kill   SIGKILL
//   stop   SIGSTOP: it goes on when somebody sends SIGCONT
//   delay  sleeps for kFaultDelayMaxUs at most, each time for another while
//   nap    the same, for kFaultNapMaxUs at most

#include "transports/fault_points.h"

namespace brigade {

inline constexpr std::uint64_t kFaultDelayMaxUs = 500;
inline constexpr std::uint64_t kFaultNapMaxUs = 10'000;

/// Points before it are passed by workers, it and those after it by the supervisor.
inline constexpr FaultPoint kFirstPointOfRepair = FaultPoint::repair_settled;

void disarm_fault();

}  // namespace brigade
