#pragma once

// What the two halves of the plugin share: the parameters with their defaults, and the contract.

#include <brigade/contract.h>

struct JitterParams {
  double amplitude = 0.1;
};

brigade::Contract<JitterParams> jitter_contract();
