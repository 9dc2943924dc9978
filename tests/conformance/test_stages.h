#pragma once

// The stage types of the conformance suite:
//
//   sift    transform of samples; leaves some out
//   toss    of batches; leaves whole ones out
//   digest  adds a hash of what is there and a draw
//   shift   changes `data`
//   split   several outputs, one of them ragged
//   pieces  several samples of each, with a ragged output
//   record  consumer: writes down its calls
//
// The runtime's own types go with them. sample_functions.h has what they do.

#include "stages/api/stage_types.h"

namespace brigade::conformance {

StageTypes conformance_stage_types();

}  // namespace brigade::conformance
