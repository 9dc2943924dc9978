#pragma once

// The stage types of the conformance suite:
//
//   sift    transform of samples; drops some
//   toss    of batches; drops whole ones
//   digest  adds a hash of what is there and a draw
//   shift   changes `data`
//   split   several outputs, one of them ragged
//   pieces  several samples of each, with a ragged output
//   record  consumer: writes down its calls
//   keep    the same, and keeps its batches
//
// The runtime's own types go with them. sample_functions.h has what they do.

#include <brigade/stage_types.h>
#include "tests/conformance/plain/plain_tensor.h"

namespace brigade::conformance {

StageTypes conformance_stage_types();

/// One slot of a record, whatever its form: batches carry the real shapes in NAME.shape.
PlainTensors read_slot(const Inputs& in, std::int64_t slot);
Result<void> write_slot(const PlainTensors& tensors, Outputs& out, std::int64_t slot);

}  // namespace brigade::conformance
