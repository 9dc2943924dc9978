// The contracts of a plugin with two halves. HEAVY_RANGE stands for an edit of the contract that
// reached only one of them.

#include <brigade/plugin.h>
#include "tests/integration/plugins/heavy.h"

using namespace brigade;

BRIGADE_PLUGIN(types) {
  types.add_from_module(Contract<HeavyParams>("heavy", "Hands every sample on.")
                            .transform()
                            .param("weight", &HeavyParams::weight, 0, HEAVY_RANGE, "unused")
                            .rest_passes(),
                        HEAVY_MODULE);
}
