// A plugin that is its own module, for the tests of the loader.

#include <brigade/plugin.h>

namespace {

struct Nothing : brigade::Stage {
  brigade::Result<brigade::Next> process(const brigade::Inputs&, brigade::Outputs&) override {
    return brigade::Next::emit;
  }
};

}  // namespace

BRIGADE_PLUGIN(types) {
  brigade::StageType light;
  light.contract.type = "light";
  light.make_stage = [] { return std::make_unique<Nothing>(); };
  types.add(light);
  brigade::StageType heavy;
  heavy.contract.type = "heavy";
  heavy.module = "plugin";
  types.add(heavy);
}

BRIGADE_MODULE(brigade::stage_body<Nothing>("heavy"))
