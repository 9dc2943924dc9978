#include "stages/api/plugin.h"

#include <gtest/gtest.h>

namespace brigade {
namespace {

struct NoParams {};

class Nothing : public Stage {
 public:
  Result<Next> process(const Inputs&, Outputs&) override { return Next::emit; }
};

}  // namespace
}  // namespace brigade

BRIGADE_PLUGIN(types) {
  types.add<brigade::Nothing>(brigade::Contract<brigade::NoParams>("nothing", "Does nothing."));
}

namespace brigade {
namespace {

TEST(PluginTest, TheEntryPointAddsItsTypes) {
  const Plugin* plugin = brigade_plugin_v1();
  EXPECT_EQ(plugin->layout_hash, plugin_layout_hash());
  StageTypes types;
  plugin->add_types(types);
  ASSERT_NE(types.find("nothing"), nullptr);
  EXPECT_NE(types.find("nothing")->make_stage(), nullptr);
}

TEST(PluginTest, ItsLayoutIsNotThatOfModulesAlone) {
  EXPECT_NE(plugin_layout_hash(), module_layout_hash());
}

}  // namespace
}  // namespace brigade
