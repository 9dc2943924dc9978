#pragma once

namespace brigade::stress {

/// How much of the sweep a program does.
struct SweepEffort {
  int positions = 4;             ///< of the line when the victim begins
  int tasks = 3;                 ///< that the victim does
  int real_kills = 2;            ///< per sweep, beside the one after each instruction of a copy
  bool without_restart = false;  ///< each death also without a successor, where others can do it
};

extern const SweepEffort kSweepEffort;

}  // namespace brigade::stress
