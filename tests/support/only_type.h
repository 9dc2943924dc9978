#pragma once

#include <brigade/stage_types.h>

namespace brigade::testing_support {

/// The one type that `add` adds.
template <void (*add)(StageTypes&)>
const StageType& only_type() {
  static const StageTypes types = [] {
    StageTypes all;
    add(all);
    return all;
  }();
  return types.all()[0];
}

}  // namespace brigade::testing_support
