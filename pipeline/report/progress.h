#pragma once

// The progress line of a run, made from two snapshots:
//
//   epoch 2/3  18,432/60,000  61,234 samples/s  data ready 99 %  loss 0.4133  ETA 12.3 s
//
// Pure: the process layer decides where and how often it is shown.

#include <cstdint>
#include <string>
#include <vector>

#include "pipeline/plan/plan.h"
#include "pipeline/report/figures.h"
#include "pipeline/report/results.h"

namespace brigade {

/// `before`: an earlier look, for the rates. `shown`: results to show (those for which the contract
/// says progress).
std::string progress_line(const Plan& plan, const RunFigures& before, const RunFigures& now,
                          const std::vector<StageResult>& shown);

/// The part of their time, between the looks, in which consumers did not wait for data; 1 when
/// there was no time.
double data_ready_share(const RunFigures& before, const RunFigures& now);

}  // namespace brigade
