#pragma once

// A victim runs one stretch of its life instruction by instruction, and dies after each of them.
//
// A death leaves exactly the memory as it is. So the victim is stepped once, and after each
// instruction the bytes are put aside, the repair, the successor and the run to the end take place
// on them, and they are put back, while the victim stands still. That an actual SIGKILL leaves
// those bytes is shown for some of the instructions: a fresh victim is stepped as far, killed,
// reaped, and the bytes compared. (A real kill after each costs the square of the region's length.)

#include <array>
#include <cstdint>
#include <string>

#include "tests/stress/stepped_process.h"
#include "tests/stress/swept_line.h"

namespace brigade::stress {

struct Sweep {
  const SweptSpec* spec = nullptr;
  StageNumber victim_stage = 0;
  int position = 0;  ///< random moves of the line before the victim begins
  int pace = 0;      ///< all others move once after so many instructions; 0: only when it sleeps
  int tasks = 3;
  int real_kills = 0;
  Aftermath aftermath;
  bool also_late = false;             ///< each death also with a late repair
  bool also_without_restart = false;  ///< and without a successor, where others can do the work
};

struct SweepResult {
  std::string failure;  ///< the first: what, and after which instruction
  std::uint64_t failures = 0;
  std::uint64_t deaths = 0;  ///< tried on a copy
  std::uint64_t real_kills = 0;
  std::array<std::uint64_t, static_cast<std::size_t>(Section::count_)> instructions{};

  void add(const SweepResult& other);
  std::string figures() const;
};

SweepResult run_sweep(const Sweep& sweep);

}  // namespace brigade::stress
