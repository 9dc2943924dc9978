#pragma once

// What the halves of the plugin `heavy` share.

struct HeavyParams {
  double weight = 1;
};
