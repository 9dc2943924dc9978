#pragma once

namespace brigade::stress {

/// How much of the sweep a program does. BRIGADE_FULL_SWEEP is the full form, of `./dev chaos`.
struct SweepEffort {
  int positions;         ///< of the line when the victim begins
  int tasks;             ///< that the victim does
  int real_kills;        ///< per sweep, beside the one after each instruction of a copy
  bool without_restart;  ///< each death also without a successor, where others can do it
};

#ifdef BRIGADE_FULL_SWEEP
inline constexpr SweepEffort kSweepEffort{16, 100, 25, true};
#else
inline constexpr SweepEffort kSweepEffort{4, 3, 2, false};
#endif

}  // namespace brigade::stress
