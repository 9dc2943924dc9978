#include "pipeline/process/plugin_loader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipeline/process/module_loader.h"

namespace brigade {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

const std::string kFolder = BRIGADE_BINARY_DIR "/tests/modules";
const std::string kPlugin = kFolder + "/brigade_plugin.so";

std::string mistake(const std::string& file) {
  const auto types = open_plugin(kFolder + "/" + file);
  return types.ok() ? "" : types.error().message;
}

StageTypes opened() { return open_plugin(kPlugin).value(); }

StageType heavy_type() {
  const StageTypes types = opened();
  return *types.find("heavy");
}

TEST(PluginLoader, EveryTypeSaysWhichLibraryHasContractAndBody) {
  const StageTypes types = opened();
  ASSERT_EQ(types.all().size(), 2u);
  EXPECT_EQ(types.find("light")->module, kPlugin);
  EXPECT_EQ(types.find("heavy")->module, kFolder + "/brigade_plugin.so");
  EXPECT_TRUE(is_of_plugin(*types.find("light")));
  EXPECT_FALSE(is_of_plugin(StageType{}));
}

TEST(PluginLoader, BodiesAreMadeWhereverTheyAre) {
  const StageTypes types = opened();
  EXPECT_TRUE(stage_maker(*types.find("light"))().ok());
  EXPECT_TRUE(stage_maker(*types.find("heavy"))().ok());
  EXPECT_EQ(producer_maker(*types.find("light"))().error().message,
            "the body of stage type \"light\" is no producer, as its contract says");
}

TEST(PluginLoader, WhatIsNoPluginIsSaid) {
  EXPECT_THAT(mistake("brigade_no_symbol.so"), StartsWith("is no plugin of Brigade"));
  EXPECT_THAT(mistake("brigade_good.so"), StartsWith("is a module"));
  EXPECT_THAT(mistake("brigade_missing_symbol.so"),
              StartsWith("cannot be opened: undefined symbol: nobody_has_this"));
  EXPECT_THAT(mistake("nowhere.so"), HasSubstr("No such file"));
}

TEST(PluginLoader, TheTypesOfAGraphAreTheProgramsAndItsPlugins) {
  StageTypes program;
  program.add(StageType{});
  ValidGraph graph;
  graph.plugins.push_back({kPlugin, std::make_shared<const StageTypes>(opened())});
  const StageTypes with = types_of(program, graph);
  const StageTypes without = types_of(program, {});
  EXPECT_EQ(with.all().size(), 3u);
  EXPECT_EQ(without.all().size(), 1u);
}

TEST(PluginLoader, AnotherContractIsRefusedWithBothHashes) {
  StageType heavy = heavy_type();
  EXPECT_TRUE(check_module_contract(heavy).ok());
  heavy.contract.may_drop = true;
  const auto compared = check_module_contract(heavy);
  ASSERT_FALSE(compared.ok());
  const std::string hash = std::to_string(heavy.contract.hash());
  heavy.contract.may_drop = false;
  EXPECT_THAT(compared.error().message, HasSubstr("there " + hash));
  EXPECT_THAT(compared.error().message, HasSubstr(std::to_string(heavy.contract.hash())));
}

TEST(PluginLoader, AModuleWithoutTheContractIsRefused) {
  StageType other = heavy_type();
  other.contract.type = "other";
  EXPECT_THAT(check_module_contract(other).error().message,
              HasSubstr("has no contract of stage type \"other\""));
  other.module = kFolder + "/brigade_good.so";
  EXPECT_THAT(check_module_contract(other).error().message, HasSubstr("is a module"));
}

TEST(PluginLoader, ALibraryThatIsGoneIsSaid) {
  EXPECT_TRUE(check_library(kPlugin, "heavy").ok());
  EXPECT_EQ(check_library("/nowhere.so", "heavy").error().message,
            "there is no /nowhere.so, which has the body of \"heavy\"; it is built with the plugin "
            "and lies beside it");
}

}  // namespace
}  // namespace brigade
