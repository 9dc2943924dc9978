#pragma once

// Stages that never run at the same time: under `join: epochs` a stage alternates between its
// sources, one epoch each, so that the stages upstream of one source work while the others wait
// (except for the few samples that their rings hold). They may share cores. Pure functions.

#include <cstdint>
#include <optional>

#include "pipeline/plan/plan.h"

namespace brigade {

/// A source of a stage that reads by turns.
struct Turn {
  StageNumber reader = -1;
  int source = 0;
  friend bool operator==(const Turn&, const Turn&) = default;
};

/// Of every stage the turn in which alone it works; nothing where it works in several, or always.
/// Of turns within a turn, the outer one.
using Turns = ByStage<std::optional<Turn>>;

Turns turns_of(const ValidGraph& graph);
Turns turns_of(const Plan& plan);

/// The largest sum of what works at the same time, and what is in it: what works always, and what
/// works in the turn of each reader that wants most. Saturates.
struct Busiest {
  std::uint64_t sum = 0;
  ByStage<bool> stages;
};
Busiest busiest(const Turns& turns, const ByStage<std::uint64_t>& wanted);

}  // namespace brigade
