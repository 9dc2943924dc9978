#pragma once

// Finds the bottleneck: the stage that is busy the largest part of its time, because
// all others wait for it, upstream for free buffers and downstream for data. Pure.

#include <optional>
#include <string>

#include "pipeline/report/figures.h"

namespace brigade {

/// Parts of a stage's time between two moments; they add up to 1 unless nothing was measured.
struct StageShares {
  double busy = 0;
  double wait_in = 0;
  double wait_out = 0;
  double wait_other = 0;
};

/// Between `before` and `after` of one stage; all 0 where no time passed.
StageShares time_shares(const StageFigures& before, const StageFigures& after);
/// Since the start.
StageShares time_shares(const StageFigures& figures);

struct Bottleneck {
  StageNumber stage = 0;
  StageShares shares;
};

/// Nothing when no stage has done anything in between, or every stage is nearly idle
/// (kBusyMin): then the line waits for what is outside it.
std::optional<Bottleneck> find_bottleneck(const RunFigures& before, const RunFigures& after);

inline constexpr double kBusyMin = 0.2;

/// "augment (busy 97 %)", and what to do: more replicas where that may help.
std::string bottleneck_text(const RunFigures& figures, const Bottleneck& bottleneck);

}  // namespace brigade
