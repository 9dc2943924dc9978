// The half that every command opens, `brigade check` among them: it needs no library.

#include <brigade/plugin.h>
#include "jitter.h"

using namespace brigade;  // an example is all about it

Contract<JitterParams> jitter_contract() {
  return Contract<JitterParams>("jitter", "Adds noise to every number.")
      .transform()
      .param("amplitude", &JitterParams::amplitude, 0, 1e6, "largest noise, up or down")
      .input("data", {DType::f32}, {any_size}, "finite numbers")
      .outputs([](const JitterParams&, const Ports& in) -> Result<Ports> {
        return Ports{*in.find("data")};  // of the same size
      })
      .rest_passes()  // other tensors of the sample travel on
      .example("transform: jitter\nplugin: jitter.so\nfrom: numbers\nparams: {amplitude: 0.5}\n");
}

BRIGADE_PLUGIN(types) { types.add_from_module(jitter_contract(), "jitter"); }
